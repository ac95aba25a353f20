import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createVisibleFolder } from "@burin/testing/made-files";
import { groupByPrograms, requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, openCommands } from "../shell/commands.ts";

/** Not in the temporary folder, which is hidden anyway. */
let base: string;
let environment: NodeJS.ProcessEnv;
const opened: Commands[] = [];

function write(path: string, text: string, mode = 0o644): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
  return file;
}

function git(folder: string, ...words: string[]): string {
  return execFileSync("git", ["-c", "protocol.file.allow=always", ...words], {
    cwd: join(base, folder),
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function commit(folder: string): void {
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "first");
}

beforeAll(() => {
  base = createVisibleFolder();
  const home = join(base, "home");
  environment = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: undefined,
    CARGO_HOME: undefined,
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), ".rustup"),
    GIT_CEILING_DIRECTORIES: base,
    LC_ALL: "C.UTF-8",
    PATH: [join(home, ".local/bin"), join(home, ".nvm/versions/node/v1/bin"), process.env.PATH].join(":"),
  };
  const name = "[user]\n\tname = Ada\n\temail = ada@example.org\n";
  const settings = `[include]\n\tpath = work.inc\n[core]\n\texcludesFile = ~/ignored\n[diff "shout"]\n\ttextconv = ~/tools/shout\n[credential]\n\thelper = store --file ${home}/passwords\n`;
  write("home/.gitconfig", `${name}${settings}`);
  write("home/work.inc", "[alias]\n\tst = status\n[color]\n\tui = always\n[core]\n\tquotePath = false\n");
  write("home/ignored", "*.tmp\n");
  write("home/tools/shout", '#!/bin/sh\ntr a-z A-Z < "$1"\n', 0o755);
  write("home/passwords", "secret-1");
  write("home/.config/git/credentials", "secret-2");
  write("home/.ssh/id_ed25519", "secret-3");
  write("home/.npmrc", "secret-4");
  write("other/notes.txt", "secret-5");
  write("home/.local/share/keys", "secret-6");
  write("home/.cargo/credentials.toml", "secret-7");
  // A tool in a folder of its own, and one that needs what lies beside its folder.
  write(
    "home/.local/share/pipx/venvs/own/bin/own",
    '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/text"\n',
    0o755,
  );
  write("home/.local/share/pipx/venvs/own/lib/text", "of its own\n");
  mkdirSync(join(home, ".local/bin"), { recursive: true });
  symlinkSync("../share/pipx/venvs/own/bin/own", join(home, ".local/bin/own"));
  write(
    "home/.nvm/versions/node/v1/bin/tool",
    '#!/bin/sh\ncat "$(dirname "$0")/../lib/node_modules/tool/text"\n',
    0o755,
  );
  write("home/.nvm/versions/node/v1/lib/node_modules/tool/text", "of the prefix\n");
  write("project/a.txt", "alpha\nbeta\ngamma é\n");
  write("project/b.txt", "alpha\nBeta\n");
  write("project/data.json", '{"a": [1, 2, {"b": "c"}]}\n');
  write("project/package.json", '{"name": "p", "version": "1.0.0"}\n');
  write("project/src/one.ts", "export const foo = 1; // later\n");
  write("project/src/deep/two.ts", 'import { foo } from "../../../machine/src/one";\n');
  write("project/tool.sh", "#!/bin/sh\n", 0o755);
  write("project/.gitignore", "dist/\n");
  write("project/.gitattributes", "*.loud diff=shout\n");
  write("project/x.loud", "loud\n");
  symlinkSync("a.txt", join(base, "project/link"));
  git("project", "init", "-q", "-b", "main");
  commit("project");
  git("project", "tag", "v1");
  git("project", "branch", "side");
  write("project/a.txt", "alpha\nBETA\ngamma é\n");
  write("project/x.loud", "louder\n");
  write("project/new.txt", "new\n");
  write("project/left.tmp", "");
});

afterAll(async () => {
  for (const one of opened) await one.close();
  rmSync(base, { recursive: true, force: true });
});

interface Ran {
  readonly code: number | null;
  readonly text: string;
}

/** Runs commands that only read, with the sandbox or without. */
function reader(root: string, sandbox: "off" | "workspace-write" = "workspace-write") {
  const commands = openCommands({
    ...{ roots: [join(base, root)], home: join(base, "burin"), environment, sandbox, network: false },
    ...{ passEnvironment: [], secretEnvironment: [] },
  });
  opened.push(commands);
  return async (
    command: string,
    reads: { readonly reads?: "wholly" } = { reads: "wholly" },
  ): Promise<Ran> => {
    const request = {
      command,
      directory: join(base, root),
      exception: "none",
      ...reads,
    } as const;
    const run = await commands.start(request);
    const { exitCode: code } = await run.shellEnded;
    // git blame gives the present time to lines that are not committed.
    const text = run.output
      .soFar()
      .head.toString()
      .replace(/(Not Committed Yet) \S+ \S+/, "$1");
    return { code, text };
  };
}

const READERS = `
ls; ls -lA; ls -ln; ls --color=always; ls -R src; ls -lt --full-time a.txt; ls nowhere
cat a.txt b.txt; cat -A a.txt; cat link; head -1 a.txt; tail -n 1 a.txt; tac a.txt; nl a.txt; od -c b.txt; xxd b.txt
wc a.txt b.txt; sort a.txt; uniq a.txt; cut -c1-2 a.txt; diff a.txt b.txt; cmp a.txt b.txt; comm a.txt b.txt
sed -n 1,2p a.txt; awk '{print toupper($0)}' a.txt; tr a-z A-Z < a.txt; paste a.txt b.txt; join a.txt b.txt
grep -rn foo src; grep --color=always -i BETA a.txt; egrep 'a|b' a.txt; find . -name '*.ts'; find . -type f -user "$(id -un)" | sort
find src -name '*.ts' -print0 | xargs -0 wc -l; du -a src; du -sh .; stat -c '%U %G %a %s %n' a.txt; file a.txt data.json tool.sh
realpath link; readlink -f link; basename a.txt; dirname "$PWD"; pwd; sha256sum a.txt; md5sum b.txt; base64 b.txt
git status; git status --short; git log --stat; git log -p; git diff; git show HEAD; git show HEAD:b.txt; git blame a.txt
git grep -n foo; git branch -a; git tag; git ls-files -s; git config user.name; git config --global --list --show-origin; git rev-parse --show-toplevel
git log --format='%an %ad' --date=iso; git diff --stat HEAD; git check-ignore -v left.tmp; git worktree list; git describe --tags
jq . data.json; jq -C .a data.json; tree; tree -C src; rg -n foo; fd ts
node --version; npm --version; npm ls; python3 --version; python3 -c 'import sys, ssl; print(sys.prefix)'; pip --version; pip list
cargo --version; rustc --version; perl -v; perl -e 'use POSIX; print POSIX::strftime("%Z", localtime)'; java -version; gcc --version; make --version; bash --version
id; whoami; groups; hostname; uname -a; date +%Z; locale; locale -a; nproc; getconf PAGESIZE; tput -T xterm-256color colors; infocmp xterm-256color
which git node python3 own; type -a ls; command -v jq; own; tool; getent passwd root; getent services ssh; getent hosts localhost
test -x /usr/bin/env; ls -ld /usr/bin /etc/passwd; cat /etc/os-release; cat /proc/version; echo $HOME; printf '%s' "$LANG"; env | grep -c ^PATH
`
  .trim()
  .split(/;\s*(?![^']*'[^']*$)|\n/)
  .map((line) => line.trim())
  .filter((line) => line !== "");

const byNeeds = groupByPrograms(READERS, (line) => line).flatMap(([names, lines]) =>
  lines.map((line) => ({ names, line })),
);

describe(
  "a command that only reads prints in the sandbox what it prints outside",
  requirePrograms("bwrap"),
  () => {
    let inside: ReturnType<typeof reader>;
    let outside: ReturnType<typeof reader>;

    beforeAll(() => {
      inside = reader("project");
      outside = reader("project", "off");
    });

    for (const { names, line } of byNeeds) {
      it(`P38 ${line}`, requirePrograms(...names), async () => {
        expect(await inside(line)).toEqual(await outside(line));
      });
    }

    it("P38 there are enough of them", () => {
      expect(READERS.length).toBeGreaterThan(100);
    });
  },
);

describe("a hole in a table of readers shows nothing", requirePrograms("bwrap"), () => {
  it.each([
    "home/passwords",
    "home/.config/git/credentials",
    "home/.ssh/id_ed25519",
    "home/.npmrc",
    "home/.cargo/credentials.toml",
    "home/.local/share/keys",
    "other/notes.txt",
  ])("P19 P53 %s", async (path) => {
    const run = reader("project");
    const file = join(base, path);
    const { text } = await run(
      `cat '${file}'; grep -f '${file}' a.txt; ls '${dirname(file)}'; find / -name '*' -path '${file}' 2>/dev/null`,
    );
    expect(text).not.toContain("secret-");
    expect(text.split("\n").filter((line) => line === file)).toEqual([]);
  });

  it("P19 P53 nor the passwords of the system, the disk of the others, or a way to write", async () => {
    const run = reader("project");
    const { text } = await run(
      "for f in ~root/.ssh /var/log /srv /mnt /boot; do test -e $f && echo seen $f; done; cat /etc/shadow /etc/gshadow /etc/ssl/private/* /etc/ssh/*_key /proc/1/environ /proc/*/{root,cwd}/etc/shadow; touch /x /etc/x /usr/x; ls /",
    );
    expect(text).not.toContain("seen");
    expect(text).not.toMatch(/^root:|PRIVATE KEY/m);
    expect(text.match(/Read-only file system/g)).toHaveLength(3);
  });

  it("P19 P53 a git folder that the project only claims as its own", async () => {
    mkdirSync(join(base, "claims"));
    git("other", "init", "-q");
    writeFileSync(join(base, "claims/.git"), `gitdir: ${join(base, "other/.git")}\n`);
    const run = reader("claims");
    expect((await run(`cat ${base}/other/.git/HEAD ${base}/other/notes.txt; git log`)).text).not.toMatch(
      /secret-|ref:/,
    );
  });

  it("P53 a command that was approved sees the disk as before", async () => {
    const run = reader("project");
    expect((await run(`cat ${base}/other/notes.txt`, {})).text).toBe("secret-5");
  });
});

describe("git in a part of a repository", requirePrograms("bwrap"), () => {
  const LOOKS = [
    "git status",
    "git log --stat",
    "git diff",
    "git show HEAD",
    "git worktree list",
    "git ls-files :/",
  ];
  const alike = async (root: string) => {
    const [inside, outside] = [reader(root), reader(root, "off")];
    for (const line of LOOKS) {
      const plain = await outside(line);
      expect({ line, ...(await inside(line)) }).toEqual({ line, ...plain });
      expect(plain.code).toBe(0);
    }
  };

  beforeAll(() => {
    write("big/part/a.txt", "a\n");
    write("big/beside/b.txt", "b\n");
    git("big", "init", "-q", "-b", "main");
    commit("big");
    git("big", "worktree", "add", "-q", "-b", "linked", join(base, "linked"));
    git("big", "submodule", "add", "-q", join(base, "project"), "sub");
    commit("big");
    execFileSync("git", ["clone", "-q", "--shared", join(base, "big"), join(base, "borrows")], {
      env: environment,
    });
    git("borrows", "worktree", "add", "-q", "-b", "lent", join(base, "lent"));
    for (const folder of ["big/part", "linked/part", "borrows/part", "lent/part"])
      write(`${folder}/a.txt`, "changed\n");
    write("big/sub/a.txt", "changed\n");
    chmodSync(join(base, "big/beside/b.txt"), 0o600);
  });

  it("P38 a folder that is in none", async () => {
    mkdirSync(join(base, "none"));
    const [inside, outside] = [reader("none"), reader("none", "off")];
    expect(await inside("git log")).toEqual(await outside("git log"));
  });

  it.each([
    ["a folder of the work tree", "big/part"],
    ["the repository of linked work trees", "big"],
    ["a linked work tree", "linked"],
    ["a folder of a linked work tree", "linked/part"],
    ["a submodule", "big/sub"],
    ["a linked work tree of a repository that borrows objects", "lent"],
  ])("P38 %s", async (_, root) => {
    await alike(root);
  });
});
