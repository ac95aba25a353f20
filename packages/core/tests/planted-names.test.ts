import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { createGitHome, type GitHome } from "@burin/testing/made-files";
import { groupByPrograms, requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";

const SECRET = "planted-secret-7f3a";

let base: string;
let root: string;
let environment: NodeJS.ProcessEnv;
let home: GitHome;
let write: GitHome["write"];

beforeEach(() => {
  home = createGitHome();
  ({ base, root, write } = home);
  environment = { ...home.environment, BURIN_HOME: join(base, "burin"), PLANTED: SECRET };
  write("outside/secret.txt", `${SECRET}\n`);
  write("root/a.txt", "alpha\n");
  write("root/src/b.ts", "beta\n");
  git("init", "-q");
});

const git = (...words: string[]) => home.git(root, ...words);

function commit(): void {
  git("add", "-A");
  git("commit", "-qm", "x");
}

/** What the command shows or does when it runs. */
function isHarmful(command: string): boolean {
  const stashes = () => git("stash", "list");
  const before = stashes();
  const run = spawnSync("bash", ["--norc", "-c", command], { cwd: root, env: environment, encoding: "utf8" });
  const said = `${run.stdout}${run.stderr}`;
  return said.includes(SECRET) || existsSync(join(root, "canary")) || stashes() !== before;
}

async function verdictOf(command: string): Promise<string> {
  const toolbox = createToolbox({ root, environment });
  const { verdict } = await toolbox.explain(command);
  await toolbox.close();
  return verdict;
}

const EVIL = "#!/bin/sh\n: > canary\n";

/** What stands in the repository, and a command that looks as if it only read. */
const ATTACKS: readonly (readonly [what: string, command: string, make: () => void])[] = [
  ["a file of words", "strings @../outside/secret.txt", () => {}],
  ["a name like a file of words", "cd names && strings *", () => responseFile()],
  ["a name like a file of words, handed on", "cd names && ls | xargs strings", () => responseFile()],
  ["a variable set behind two dashes", "printf -- '12345%n' PATH; ls", () => write("root/5/ls", EVIL, 0o755)],
  [
    "a name that sets a variable",
    'cd names && for f in 1*; do printf "$f" PATH; ls; done',
    () => {
      write("root/names/12345%n", "");
      write("root/names/5/ls", "#!/bin/sh\n: > ../canary\n", 0o755);
    },
  ],
  [
    "names that are options of tar",
    "cd names && tar tf *",
    () => {
      write("root/names/--checkpoint=1", "");
      write("root/names/--checkpoint-action=exec=sh evil", "");
      write("root/names/evil", ": > ../canary\n");
      execFileSync("tar", ["cf", "names/!.tar", "a.txt"], { cwd: root });
    },
  ],
  [
    "a name that is options of ls",
    "cd names && ls *",
    () => {
      write("root/names/-LR", "");
      mkdirSync(join(root, "names/inner"));
      symlinkSync("../../../outside", join(root, "names/inner/link"));
      write(`outside/${SECRET}`, "");
    },
  ],
  ["changes put away", "git stash -- show", () => changed("show")],
  ["changes put away by another name", "git stash -- list", () => changed("list")],
  [
    "a label as the name of a file",
    "cat a.txt | grep -l --label=BASE/outside/secret.txt alpha | xargs cat",
    () => {},
  ],
  [
    "a prefix before each name",
    "git diff --name-only --line-prefix=BASE/outside/ | xargs cat",
    () => changed("secret.txt"),
  ],
  [
    "a name that is two words, for a program that follows links",
    "find odd -type f | xargs grep -R planted",
    () => {
      write("root/odd/x link.txt", "");
      symlinkSync("../outside/secret.txt", join(root, "link.txt"));
    },
  ],
  ["the folder above among the names", "ls -a | xargs grep -r planted", () => {}],
  [
    "a name of an older commit that is two words",
    "git diff --name-only HEAD~1 | xargs cat",
    () => oldName("a ../outside/secret.txt"),
  ],
  [
    "a name of an older commit that is two words, between commits",
    "git diff --name-only HEAD~1 HEAD | xargs head",
    () => oldName("a ../outside/secret.txt"),
  ],
  [
    "a name in the index that is two words",
    "git ls-files | xargs cat",
    () => {
      write("root/a ../outside/secret.txt", "");
      git("add", "-A");
      rmSync(join(root, "a .."), { recursive: true });
    },
  ],
  [
    "a name of an older commit that is an option",
    "git diff --name-only HEAD~1 | xargs sort -S1k",
    () => {
      write("root/many.txt", "line\n".repeat(5000));
      write("root/evil", EVIL, 0o755);
      oldName("--compress-program=./evil");
      write("root/many.txt", "more\n".repeat(5000));
    },
  ],
  ["the environment by a name apart", "jq -n '$ ENV'", () => {}],
  ["the environment by a name behind a comment", "jq -n '$#\nENV'", () => {}],
];

function responseFile(): void {
  write("root/names/@x", "");
  write("root/names/x", "../../outside/secret.txt");
}

function changed(file: string): void {
  write(`root/${file}`, "one\n");
  commit();
  write(`root/${file}`, "two\n");
}

function oldName(name: string): void {
  write(`root/${name}`, "text\n");
  commit();
  rmSync(join(root, name.split("/")[0] ?? ""), { recursive: true });
  commit();
}

/** The same kinds of commands where nothing is planted. */
const HARMLESS = [
  "git diff --name-only | xargs wc -l",
  "git diff --name-only HEAD~1 | xargs grep -n beta",
  "git diff --name-only --cached --diff-filter=ACM | xargs wc -l",
  "git ls-files '*.ts' | xargs wc -l",
  "git ls-files | grep ts | head -3 | xargs cat",
  "grep -rl --include='*.ts' beta src | xargs wc -l",
  "grep -rlE -e beta . | xargs head -2",
  "rg --files -g '*.ts' | xargs wc -l",
  "rg -l -t ts beta src | xargs cat",
  "ls -t src | head -1 | xargs echo",
  "ls -a | head",
  "wc *",
  "du -sh *",
  "ls -- *",
  "grep alpha *",
  'for f in *; do [ -f "$f" ] && head -1 "$f"; done',
  "strings a.txt src/*",
  "printf -- '- %s\\n' x",
  "git stash list",
  "git stash show -p",
  "git reflog show HEAD",
  "jq '.env.ENV' a.txt",
];

describe("names and words that a repository plants", () => {
  const groups = groupByPrograms(ATTACKS, ([, command]) => command);
  for (const [names, rows] of groups)
    it.each(rows)(
      "P21 P53 %s: %j is real and asked about",
      requirePrograms(...names),
      async (_, written, make) => {
        make();
        const command = written.replaceAll("BASE", base);
        expect(await verdictOf(command)).toBe("ask");
        expect(isHarmful(command)).toBe(true);
      },
    );

  it("P22 nothing of that is asked about where it is not planted", async () => {
    commit();
    write("root/src/b.ts", "beta\n\n");
    commit();
    const toolbox = createToolbox({ root, environment });
    for (const command of HARMLESS) {
      const { verdict, reason } = await toolbox.explain(command);
      expect(verdict, `${command}: ${reason}`).toBe("allow");
    }
    await toolbox.close();
  });
});
