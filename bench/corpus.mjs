// Trees of files for the benches: the same on every machine, built once in the folder for temporary files.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WORDS =
  "account adapter buffer cache client column config context cursor event field filter handler header index input layer limit message model module node option output parser path point query range reader record request result route schema scope server session source state stream table target token value vector worker writer".split(
    " ",
  );
const ENDINGS = [".ts", ".ts", ".ts", ".js", ".md", ".json", ".css", ".py"];

/** Stands in three files of each tree, wherever it is looked for. */
export const RARE_WORD = "zanzibarCheckpoint";
/** Stands in every source file. */
export const COMMON_WORD = "function";

/** @param {number} seed */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 0x100000000;
  };
}

/** @param {() => number} random */
function makeWord(random) {
  return WORDS[Math.floor(random() * WORDS.length)] ?? "word";
}

/** @param {() => number} random @param {number} lines */
function makeSource(random, lines) {
  const text = [];
  for (let line = 0; line < lines; line += 1) {
    const [a, b, c] = [makeWord(random), makeWord(random), makeWord(random)];
    if (line % 8 === 0) text.push(`export function ${a}${line}(${b}) {`);
    else if (line % 8 === 7) text.push("}");
    else text.push(`  const ${a}${line} = ${b}.${c}(${Math.floor(random() * 1000)}); // ${c} ${a}`);
  }
  return `${text.join("\n")}\n`;
}

/**
 * A tree of so many files, 25 a folder, with ignore files, an ignored folder and a few binary files.
 * @param {number} files
 * @returns {string} its folder
 */
export function makeTree(files) {
  const place = join(tmpdir(), `burin-bench-tree-${files}-v1`);
  if (existsSync(place)) return place;
  const part = `${place}.part`;
  rmSync(part, { recursive: true, force: true });
  const random = createRandom(files);
  const lines = files > 50_000 ? 30 : 90;
  const rare = new Set([1, 2, 3].map((quarter) => Math.floor((files * quarter) / 4)));
  mkdirSync(join(part, ".git/info"), { recursive: true });
  writeFileSync(join(part, ".gitignore"), "build/\n*.log\n/coverage\n*.tmp\n!keep.log\n");
  let folder = "";
  for (let number = 0; number < files; number += 1) {
    if (number % 25 === 0) {
      const at = number / 25;
      folder = join(
        part,
        "src",
        makeWord(createRandom(at % 40)),
        `${makeWord(random)}${at % 200}`,
        `part${at}`,
      );
      mkdirSync(folder, { recursive: true });
    }
    const ending = ENDINGS[number % ENDINGS.length] ?? ".ts";
    const file = join(folder, `${makeWord(random)}-${number}${ending}`);
    const text = number % 997 === 996 ? `\0\u0001${makeSource(random, 4)}` : makeSource(random, lines);
    writeFileSync(file, rare.has(number) ? `${text}const ${RARE_WORD} = ${number};\n` : text);
    const time = 1_600_000_000 + Math.floor(random() * 1e8);
    utimesSync(file, time, time);
  }
  for (let number = 0; number < files / 20; number += 1) {
    const ignored = join(part, number % 2 === 0 ? "build" : "node_modules/package", `dir${number % 50}`);
    if (number < 100) mkdirSync(ignored, { recursive: true });
    writeFileSync(join(ignored, `made${number}.ts`), makeSource(random, 10));
  }
  renameSync(part, place);
  return place;
}

/**
 * A folder with so many files and no others.
 * @param {number} entries
 */
export function makeFolder(entries) {
  const place = join(tmpdir(), `burin-bench-folder-${entries}-v1`);
  if (existsSync(place)) return place;
  const part = `${place}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const random = createRandom(entries);
  for (let number = 0; number < entries; number += 1) {
    const name = join(part, `${makeWord(random)}-${number}.txt`);
    if (number % 10 === 9) mkdirSync(name);
    else writeFileSync(name, "");
  }
  renameSync(part, place);
  return place;
}

/**
 * What a home folder may be like: so many small files, a circle of links, a link to everything, a pipe and a
 * folder that may not be read.
 * @param {number} files
 */
export function makeHostileTree(files) {
  const place = join(tmpdir(), `burin-bench-hostile-${files}-v1`);
  if (existsSync(place)) return place;
  const part = `${place}.part`;
  rmSync(part, { recursive: true, force: true });
  const random = createRandom(files);
  let folder = part;
  for (let number = 0; number < files; number += 1) {
    if (number % 100 === 0) {
      folder = join(part, `${makeWord(random)}${number % 7}`, makeWord(random), `part${number / 100}`);
      mkdirSync(folder, { recursive: true });
    }
    writeFileSync(join(folder, `${makeWord(random)}-${number}.txt`), `${makeWord(random)} ${number}\n`);
  }
  symlinkSync(place, join(part, "circle"));
  symlinkSync("/", join(part, "everything"));
  symlinkSync(".", join(folder, "self"));
  execFileSync("mkfifo", [join(part, "pipe"), join(folder, "pipe.txt")]);
  mkdirSync(join(part, "closed"), { mode: 0o000 });
  renameSync(part, place);
  return place;
}
