// A throw-away machine for one repository: a home, a root, a place outside, and a program that leaves its mark.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** What the planted program says, and what stands in the files outside. */
export const CANARY = "canary-words-4711";
export const SECRET = "secret-words-0815";

/** Where temporary files are made; those of commands go below the arena, where marks are looked for. */
const TEMPORARY = tmpdir();

export class Arena {
  base = realpathSync(mkdtempSync(join(TEMPORARY, "burin-attack-")));
  root = join(this.base, "root");
  /** The program that a hostile repository names. */
  evil = join(this.root, "tools/evil.sh");
  /** What its marks begin with: another run beside this one leaves marks in the same places. */
  #mark = `mark-${basename(this.base)}-`;
  environment = {
    PATH: process.env.PATH,
    HOME: join(this.base, "home"),
    GIT_CONFIG_NOSYSTEM: "1",
    BURIN_HOME: join(this.base, "burin"),
    LANG: "C",
  };

  constructor() {
    const marks = [join(this.base, "outside"), this.root, "$PWD", "/tmp", "$HOME", this.base];
    // The words stand nowhere in its text, which may well be looked at.
    const says = "printf '%s-words-4711\\n' canary";
    const touches = marks.map((folder) => `: 2>/dev/null > "${folder}/${this.#mark}$$" || :`).join("\n");
    this.write("root/tools/evil.sh", `#!/bin/sh\n${touches}\n${says}; ${says} >&2\n[ $# = 0 ] || cat\n`);
    chmodSync(this.evil, 0o755);
    this.write("outside/secret.txt", `${SECRET}\n`);
    this.write("burin/.keep", "");
    this.write("tmp/.keep", "");
    const settings =
      '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n';
    this.write("home/.gitconfig", settings);
    process.env.TMPDIR = join(this.base, "tmp");
  }

  /** @param {string} path below the arena @param {string} text */
  write(path, text) {
    const file = join(this.base, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** @param {string} folder below the root @param {readonly string[]} words */
  git(folder, ...words) {
    const place = { cwd: join(this.root, folder), env: this.environment };
    return execFileSync("git", words, { ...place, encoding: "utf8", stdio: "pipe" });
  }

  /** A repository with some history, changes that are not committed and names for every driver. @param {string} folder */
  makeRepository(folder = ".") {
    const at = `root/${folder}`;
    this.write(`${at}/a.txt`, "alpha\nbeta\n");
    this.write(`${at}/b.bin`, "bin\0ary\n");
    this.write(`${at}/src/c.txt`, "gamma\n");
    this.write(`${at}/.gitattributes`, "*.txt diff=evil filter=evil merge=evil\n*.bin diff=evil\n");
    this.git(folder, "init", "-q");
    this.git(folder, "add", "-A");
    this.git(folder, "commit", "-q", "-m", "first");
    this.write(`${at}/a.txt`, "alpha\nbeta\ngamma\n");
    this.write(`${at}/b.bin`, "bin\0ary two\n");
    this.git(folder, "commit", "-q", "-am", "second\n\nReviewed-by: Ada");
    this.git(folder, "tag", "v1");
    this.write(`${at}/a.txt`, "alpha\nbeta\ngamma\ndelta\n");
    this.git(folder, "stash", "-q");
    this.write(`${at}/src/c.txt`, "gamma\nmore\n");
  }

  /** The marks that the planted program has left in any place that it can reach. Takes them away. */
  takeMarks() {
    const temporary = join(this.base, "tmp");
    const sessions = readdirSync(temporary).map((name) => join(temporary, name, "tmp"));
    const places = [
      this.base,
      this.root,
      join(this.base, "outside"),
      this.environment.HOME,
      "/tmp",
      ...sessions,
    ];
    const found = places.flatMap((folder) => findMarks(folder, this.#mark));
    for (const file of found) rmSync(file, { force: true });
    return found;
  }

  /** Whether a mark is outside the project and the folders of temporary files that commands have for themselves. @param {string} mark */
  isOutside(mark) {
    return ![this.root, join(this.base, "tmp")].some((folder) => mark.startsWith(`${folder}/`));
  }

  remove() {
    process.env.TMPDIR = TEMPORARY;
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** @param {(arena: Arena) => void} plant @returns {(arena: Arena) => void} */
export const plantInRepository = (plant) => (arena) => {
  arena.makeRepository();
  plant(arena);
};

/** @param {string} key @param {string} [value] @returns {(arena: Arena) => void} */
export const plantSetting = (key, value) =>
  plantInRepository((arena) => void arena.git(".", "config", key, value ?? arena.evil));

/** @param {string} folder @param {string} mark @returns {string[]} */
function findMarks(folder, mark) {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(mark));
  return names.map((name) => join(folder, name));
}
