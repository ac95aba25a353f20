import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeCommand } from "./command-policy.ts";
import { listCommands } from "./command-words.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { parseRule } from "./rules.ts";

/** 500 in the suite; BURIN_FUZZ=10000 for a long run, BURIN_FUZZ_SEED for another one. */
const CASES = Number(process.env.BURIN_FUZZ ?? 500);
const SEED = Number(process.env.BURIN_FUZZ_SEED ?? 1);

const PROGRAMS =
  "ls cat git npm rm evil echo printf find sed grep sort env nice timeout xargs head wc true".split(" ");
const TRACED = [
  ...PROGRAMS,
  "false",
  "test",
  "[",
  "pwd",
  "sh",
  "bash",
  "touch",
  "rg",
  "awk",
  "if",
  "a",
  "x",
  "b",
];
const ALLOW = ["git", "ls", "npm test", "echo", "sed", "cat", "find", "env"].map((words) =>
  parseRule(`run_shell_command(${words})`),
);

let base: string;
let root: string;

/** Every program is a stand-in that writes down how it was called; those of the shell itself are switched off. */
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "burin-fuzz-")));
  root = join(base, "root");
  for (const name of ["root", "root/sub", "root/src", "programs", "calls"]) mkdirSync(join(base, name));
  for (const name of TRACED) {
    const note = `printf '%s\\0' "\${0##*/}" "$@" > '${base}/calls/'"$$-$\{0##*/}"`;
    writeFileSync(join(base, "programs", name), `#!/bin/sh\n${note}\n`, { mode: 0o755 });
  }
  writeFileSync(join(base, "start.sh"), "enable -n echo printf test [ pwd true false\n");
});

afterAll(() => rmSync(base, { recursive: true }));

function callsOf(command: string): string[][] {
  const env = { PATH: join(base, "programs"), HOME: base, BASH_ENV: join(base, "start.sh"), LANG: "C.UTF-8" };
  const options = { cwd: root, env, timeout: 20_000, stdio: "ignore" } as const;
  spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", command], options);
  return readdirSync(join(base, "calls")).map((name) => {
    const file = join(base, "calls", name);
    const words = readFileSync(file, "utf8").split("\0").slice(0, -1);
    rmSync(file);
    return words;
  });
}

const WORD_PIECES = [
  ..."a b x -n -l --all src src/a.ts HEAD~1 a=b =c . ./x + % @ , : a#b ^ ] } { {} stash@{0} s/a/b/ -p".split(
    " ",
  ),
  ..."'a b' '' 'it' '$x' '`evil`' \"a b\" \"\" \"it's\" \"\\$x\" \\a \\; \\| \\$x \\' src/*.zz".split(" "),
  "'\n'",
  '"\n"',
  "\\\n",
  "é",
];
const SHARP_PIECES = [
  ..."$x $(evil) `evil` $'a' $\"a\" {a,b} {1..2} ~ ~/x *.zz ?x [a] [ ! # $ $$ $? $[1] $((1)) <(evil)".split(
    " ",
  ),
  `$${"{x}"}`,
  `$${"{x:-$(evil)}"}`,
  '"$(evil)"',
  '"`evil`"',
  "\r",
  "\u00a0",
  "'",
  '"',
  "\\",
  "`",
  "(",
  ")",
];
const PLAIN_JOINTS = [" ; ", ";", " && ", "&&", " || ", " | ", "|", "\n", " |& ", "\n\n", " ;\n", " &&\n"];
const SHARP_JOINTS = [
  " & ",
  "&",
  ";;",
  " ; ; ",
  ")",
  "(",
  " ( ",
  " { ",
  " ; }",
  "`",
  " then ",
  "\r\n",
  " # ",
  "#\n",
];
const AROUND = [
  ..."2>&1 >/dev/null 2>/dev/null >f >>f <src <<<x <<<$x >&2 &>f >&f 2>&- <>f >|f".split(" "),
  "<<E\nx\nE\n",
  "<<'E'\n$(evil)\nE\n",
  "<<E\n$(evil)\nE\n",
  "<<-E\n\tx\n\tE\n",
];
const PLAIN_BEGINNINGS = [
  ..."ls cat echo head wc true \\ls l\"s\" e''cho 'cat' pwd".split(" "),
  ..."env ls|npm test|cd src|cd sub|! ls|time ls|sh -c 'ls'|command ls|timeout 5 ls|nice ls|git status".split(
    "|",
  ),
  ..."find . -exec ls {} \\;|find src -name|sort|uniq|git log --|xargs echo|CI=1 ls|bash -c 'ls; cat x'".split(
    "|",
  ),
];
const SHARP_BEGINNINGS = [
  ..."git find sed env grep rm evil npm [ test".split(" "),
  ..."env evil|bash -c 'evil'|find . -exec evil {} +|find . -exec sh -c evil ;|x=1|x=1 ls|PATH=. ls".split(
    "|",
  ),
  ..."if ls; then evil; fi|for x in a; do evil; done|eval ls|g\\it status|xargs evil|exec ls|f() { evil; }".split(
    "|",
  ),
];

const oneOf = (texts: readonly string[]) => fc.constantFrom(...texts);
const mostly = (plain: readonly string[], sharp: readonly string[], weight: number) =>
  fc.oneof({ weight, arbitrary: oneOf(plain) }, { weight: 1, arbitrary: oneOf(sharp) });
const word = fc
  .array(mostly(WORD_PIECES, SHARP_PIECES, 15), { minLength: 1, maxLength: 3 })
  .map((pieces) => pieces.join(""));
const part = fc
  .tuple(
    mostly(PLAIN_BEGINNINGS, SHARP_BEGINNINGS, 8),
    fc.array(word, { maxLength: 3 }),
    fc.option(oneOf(AROUND), { freq: 4 }),
    oneOf([" ", " ", "  ", "\t"]),
  )
  .map(([beginning, words, around, space]) => [beginning, ...words, ...(around ? [around] : [])].join(space));
const line = fc
  .array(fc.tuple(part, mostly(PLAIN_JOINTS, SHARP_JOINTS, 12)), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([text, joint], index) => (index === 0 ? text : joint + text)).join(""));

function isListed(call: readonly string[], listed: readonly (readonly (string | null)[])[]): boolean {
  return listed.some(
    (words) =>
      words.length === call.length && words.every((each, index) => each === null || each === call[index]),
  );
}

describe("what runs unasked, beside what bash makes of it", () => {
  it(`P21 in ${CASES} generated lines bash starts only the listed programs, with exactly their words`, () => {
    const lines = fc.sample(line, { numRuns: CASES, seed: SEED });
    let allowed = 0;
    for (const command of lines) {
      const rules = { allow: ALLOW, ask: [], deny: [] };
      if (judgeCommand({ command, mode: "default", rules, place: { root } }).verdict !== "allow") continue;
      allowed += 1;
      const listed = listCommands(parseShellCommand(command)).map(({ words }) => words);
      for (const call of callsOf(command)) {
        expect(isListed(call, listed), `${JSON.stringify(command)} ran ${JSON.stringify(call)}`).toBe(true);
      }
    }
    expect(allowed).toBeGreaterThan(CASES / 20);
    expect(readdirSync(root).sort()).toEqual(["src", "sub"]);
  }, 3_600_000);
});
