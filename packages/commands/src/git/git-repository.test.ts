import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createGitHome, type GitHome } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { createRepositoryInspector } from "./git-repository.ts";

let base: string;
let root: string;
let environment: GitHome["environment"];
let write: GitHome["write"];
let gitIn: GitHome["git"];
let makeRepository: GitHome["makeRepository"];

beforeEach(() => {
  ({ base, root, environment, write, git: gitIn, makeRepository } = createGitHome());
  appendFileSync(join(base, "home/.gitconfig"), '[protocol "file"]\n\tallow = always\n');
  write("root/src/a.txt", "a\n");
});

const LOOK = { changes: false, readsFiles: true, subcommand: "status" };
const CHANGE = { changes: true, readsFiles: false, subcommand: "commit" };

function fault(folder = root, { use = LOOK, roots = [root] } = {}) {
  return createRepositoryInspector({ roots, environment, passEnvironment: [] }).repositoryFault(folder, use);
}

describe("an ordinary repository", () => {
  it("P22 finds nothing in a repository as git makes it, nor where there is none", () => {
    expect(fault()).toBeNull();
    makeRepository(root);
    gitIn(root, "config", "core.fsmonitor", "false");
    gitIn(root, "config", "user.name", "Ada");
    gitIn(root, "config", "alias.st", "status");
    gitIn(root, "remote", "add", "origin", "https://example.org/x.git");
    gitIn(root, "config", "branch.main.vscode-merge-base", "origin/main");
    expect(fault(join(root, "src"))).toBeNull();
  });

  it.each([
    ["core.hooksPath", ".husky/_"],
    ["core.editor", "vim"],
    ["core.sshCommand", "ssh -i key"],
    ["credential.helper", "!echo"],
    ["filter.lfs.clean", "git-lfs clean -- %f"],
    ["filter.lfs.process", "git-lfs filter-process"],
    ["core.fsmonitor", "true"],
    ["core.excludesFile", ".ignored"],
  ])("P22 looking starts nothing by %s", (key, value) => {
    makeRepository(root);
    gitIn(root, "config", key, value);
    expect(fault()).toBeNull();
  });

  it("P22 a commit may run the hooks that were set up, and git's own helper for passwords", () => {
    makeRepository(root);
    gitIn(root, "config", "core.hooksPath", ".husky/_");
    gitIn(root, "config", "credential.helper", "store");
    expect(fault(root, { use: CHANGE })).toBeNull();
  });

  it("P21 the git that commands would find is asked, not another one of the system", () => {
    makeRepository(root);
    chmodSync(write("programs/git", "#!/bin/sh\necho another git >&2; exit 1\n"), 0o755);
    environment = { ...environment, PATH: `${join(base, "programs")}:${environment.PATH}` };
    expect(fault()?.what).toContain("another git");
  });

  it("P22 what a person's own settings name is theirs", () => {
    makeRepository(root);
    appendFileSync(join(base, "home/.gitconfig"), '[diff]\n\texternal = difft\n[filter "x"]\n\tclean = x\n');
    expect(fault()).toBeNull();
  });

  it("P22 submodules are looked into, and nothing is found there", () => {
    makeRepository(join(base, "other"));
    makeRepository(root);
    gitIn(root, "submodule", "--quiet", "add", join(base, "other"), "libs/other");
    expect(fault()).toBeNull();
    expect(fault(join(root, "libs/other"))).toBeNull();
    expect(fault(join(root, "libs/other"), { roots: [join(root, "libs/other")] })).toBeNull();
    gitIn(root, "commit", "-q", "-am", "with it");
    gitIn(root, "worktree", "add", "-q", join(base, "tree"));
    gitIn(join(base, "tree"), "submodule", "--quiet", "update", "--init");
    expect(fault(join(base, "tree"), { roots: [join(base, "tree")] })).toBeNull();
  });

  it("P22 a linked work tree that git made is fine, wherever its repository lies", () => {
    makeRepository(root);
    gitIn(root, "worktree", "add", "-q", join(base, "tree"));
    const tree = join(base, "tree");
    expect(fault(tree, { roots: [tree] })).toBeNull();
    mkdirSync(join(tree, "sub"));
    expect(fault(join(tree, "sub"), { roots: [join(tree, "sub")] })).toBeNull();
    expect(fault(tree, { roots: [root, tree] })).toBeNull();
  });

  it("P22 a repository that begins above the root is fine", () => {
    makeRepository(root);
    expect(fault(join(root, "src"), { roots: [join(root, "src")] })).toBeNull();
  });

  it("P22 a project around a bare repository with work trees beside it is fine", () => {
    makeRepository(join(base, "origin"));
    gitIn(base, "clone", "-q", "--bare", join(base, "origin"), join(root, ".bare"));
    writeFileSync(join(root, ".git"), "gitdir: ./.bare\n");
    gitIn(root, "worktree", "add", "-q", join(root, "main"), "HEAD");
    expect(fault(join(root, "main"))).toBeNull();
    expect(fault(root, { use: { ...LOOK, readsFiles: false } })).toBeNull();
  });
});

describe("programs that a repository names", () => {
  it.each([
    ["core.fsmonitor", "touch canary"],
    ["core.pager", "touch canary"],
    ["pager.log", "touch canary"],
    ["core.alternateRefsCommand", "touch canary"],
    ["diff.external", "touch canary"],
    ["diff.x.textconv", "touch canary"],
    ["diff.a.b.command", "touch canary"],
    ["filter.x.clean", "touch canary"],
    ["filter.x.process", "touch canary"],
    ["filter.lfs.clean", "git-lfs clean -- %f; touch canary"],
    ["lfs.customtransfer.x.path", "touch canary"],
    ["merge.x.driver", "touch canary"],
    ["gpg.program", "touch canary"],
    ["gpg.ssh.program", "touch canary"],
    ["gpg.ssh.defaultKeyCommand", "touch canary"],
    ["trailer.x.command", "touch canary"],
    ["trailer.x.cmd", "touch canary"],
    ["hook.x.command", "touch canary"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.uploadpack", "touch canary"],
    ["includeIf.onbranch:main.path", "other"],
  ])("P21 finds %s", (key, value) => {
    gitIn(root, "init", "-q");
    gitIn(root, "config", key, value);
    const found = { nature: "program", what: expect.stringContaining(key.toLowerCase()) };
    expect(fault()).toMatchObject(found);
    expect(fault(join(root, "src"))).toMatchObject(found);
  });

  it.each([
    ["core.editor", "touch canary", "commit"],
    ["core.sshCommand", "touch canary", "fetch"],
    ["credential.helper", "!touch canary", "fetch"],
    ["sequence.editor", "touch canary", "rebase"],
    ["mergetool.x.path", "./canary", "mergetool"],
    ["submodule.x.update", "!touch canary", "submodule"],
    ["alias.go", "!touch canary", "GO"],
    ["alias.go.command", "!touch canary", "go"],
    ["protocol.ext.allow", "always", "fetch"],
    ["protocol.allow", "user", "pull"],
  ])("P21 finds %s for what changes something", (key, value, subcommand) => {
    gitIn(root, "init", "-q");
    gitIn(root, "config", key, value);
    expect(fault(root, { use: { ...CHANGE, subcommand } })).toMatchObject({ nature: "program" });
  });

  it.each(["gitcvs.dbDriver", "column.clean", "feature.helper"])(
    "P22 finds nothing in %s, which names no program that git starts",
    (key) => {
      gitIn(root, "init", "-q");
      gitIn(root, "config", key, "SQLite");
      expect(fault()).toBeNull();
      expect(fault(root, { use: { ...CHANGE, subcommand: "commit" } })).toBeNull();
    },
  );

  it("P21 finds an alias by the name of a look, which a git without that one would run", () => {
    gitIn(root, "init", "-q");
    gitIn(root, "config", "alias.whatchanged", "!touch canary");
    expect(fault(root, { use: { ...LOOK, subcommand: "whatchanged" } })).toMatchObject({ nature: "program" });
    expect(fault()).toBeNull();
  });

  it.each([
    ["a value over two lines", "[core]\n\tfsmonitor = \\\n touch canary\n"],
    ["an odd name", '[filter "a]b"]\n\tclean = touch canary\n'],
    ["escapes in a name", '[filter "a\\"\\\\b"]\n\tclean = touch canary\n'],
    ["the line of its section", "[core] fsmonitor = touch canary\n"],
    ["capitals and tabs", "[CORE]\tFSMONITOR\t=\ttouch canary\n"],
    ["CRLF", "[core]\r\n\tfsmonitor = touch canary\r\n"],
    ["a mark of byte order", "\uFEFF[core]\n\tfsmonitor = touch canary\n"],
    ["an older way of naming", "[filter.x]\n\tclean = touch canary\n"],
    ["another file", "[include]\n\tpath = ../more\n"],
  ])("P21 finds one behind %s", (_, config) => {
    gitIn(root, "init", "-q");
    writeFileSync(join(root, "more"), "[core]\n\tfsmonitor = touch canary\n");
    writeFileSync(join(root, ".git/config"), config);
    expect(fault()).toMatchObject({ nature: "program" });
  });

  it("P21 finds them in the settings of one work tree, and of the repository that a work tree belongs to", () => {
    makeRepository(root);
    gitIn(root, "worktree", "add", "-q", join(base, "tree"));
    gitIn(root, "config", "extensions.worktreeConfig", "true");
    gitIn(root, "config", "--worktree", "filter.x.clean", "touch canary");
    expect(fault()).toMatchObject({ nature: "program" });
    gitIn(root, "config", "filter.y.clean", "touch canary");
    const tree = join(base, "tree");
    expect(fault(tree, { roots: [tree] })).toMatchObject({ nature: "program" });
  });

  it("P21 finds the hook that runs after a look", () => {
    makeRepository(root);
    writeFileSync(join(root, ".git/hooks/post-index-change"), "#!/bin/sh\ntouch canary\n");
    expect(fault()).toMatchObject({ nature: "program" });
    rmSync(join(root, ".git/hooks/post-index-change"));
    write("root/hooks/post-index-change", "#!/bin/sh\ntouch canary\n");
    gitIn(root, "config", "core.hooksPath", "hooks");
    expect(fault(join(root, "src"))).toMatchObject({ nature: "program" });
  });

  it.each(["docs", "deep/er/docs", "."])(
    "P21 takes no folder that looks like a repository for one: %s",
    (place) => {
      const folder = join(root, place);
      mkdirSync(join(folder, "objects"), { recursive: true });
      mkdirSync(join(folder, "refs"));
      writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
      expect(fault(folder)).toMatchObject({ nature: "program" });
      writeFileSync(
        join(folder, "config"),
        "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch canary\n",
      );
      mkdirSync(join(folder, "refs/heads"));
      expect(fault(join(folder, "refs/heads"))).toMatchObject({ nature: "program" });
    },
  );

  it("P21 finds them in a submodule, also one that was planted, and says in which", () => {
    makeRepository(join(root, "sub/inner"));
    makeRepository(join(root, "sub"));
    makeRepository(root);
    expect(fault()).toBeNull();
    gitIn(join(root, "sub/inner"), "config", "filter.x.clean", "touch canary");
    expect(fault()).toMatchObject({ nature: "program", what: expect.stringContaining("sub") });
    expect(fault(join(root, "src"))).toMatchObject({ nature: "program" });
    expect(fault(root, { use: { ...LOOK, readsFiles: false } })).toBeNull();
  });
});

describe("places that a repository names", () => {
  it("P21 git's folder elsewhere is asked about: by a file, by a link, by what it shares", () => {
    makeRepository(join(base, "private"));
    writeFileSync(join(root, ".git"), `gitdir: ${join(base, "private/.git")}\n`);
    expect(fault()).toMatchObject({ nature: "outside" });
    rmSync(join(root, ".git"));
    symlinkSync(join(base, "private/.git"), join(root, ".git"));
    expect(fault()).toMatchObject({ nature: "outside" });
    rmSync(join(root, ".git"));
    makeRepository(root);
    writeFileSync(join(root, ".git/commondir"), `${join(base, "private/.git")}\n`);
    expect(fault()).toMatchObject({ nature: "outside" });
  });

  it("P21 a work tree or submodule of others is no proof for this folder", () => {
    makeRepository(join(base, "private"));
    gitIn(join(base, "private"), "worktree", "add", "-q", join(base, "tree"));
    writeFileSync(join(root, ".git"), `gitdir: ${join(base, "private/.git/worktrees/tree")}\n`);
    expect(fault()).toMatchObject({ nature: "outside" });
    gitIn(join(base, "private"), "submodule", "--quiet", "add", join(base, "private"), "sub");
    writeFileSync(join(root, ".git"), `gitdir: ${join(base, "private/.git/modules/sub")}\n`);
    expect(fault()).toMatchObject({ nature: "outside" });
  });

  it("P21 a work tree outside the root is asked about", () => {
    makeRepository(root);
    gitIn(root, "config", "core.worktree", base);
    expect(fault()).toMatchObject({ nature: "outside" });
  });

  it("P21 so are objects, settings and links elsewhere", () => {
    const secret = write("secret.txt", "secret\n");
    makeRepository(join(base, "private"));
    const cases: [name: string, plant: () => void][] = [
      [
        "alternates",
        () => write("root/.git/objects/info/alternates", `${join(base, "private/.git/objects")}\n`),
      ],
      ["excludes", () => gitIn(root, "config", "core.excludesFile", secret)],
      ["excludes of a home", () => gitIn(root, "config", "core.excludesFile", "~/.secret")],
      ["mailmap", () => gitIn(root, "config", "mailmap.file", "../secret.txt")],
      ["include", () => gitIn(root, "config", "include.path", "../../home/.gitconfig")],
      [
        "link",
        () => {
          rmSync(join(root, ".git/info"), { recursive: true });
          symlinkSync(join(base, "home"), join(root, ".git/info"));
        },
      ],
    ];
    for (const [name, plant] of cases) {
      rmSync(join(root, ".git"), { recursive: true, force: true });
      makeRepository(root);
      expect(fault(), name).toBeNull();
      plant();
      expect(fault(), name).toMatchObject({ nature: "outside" });
    }
  });

  it("P21 alternates of alternates count, and those inside the root do not", () => {
    makeRepository(join(base, "private"));
    makeRepository(join(root, "vendor"));
    makeRepository(root);
    writeFileSync(join(root, ".git/objects/info/alternates"), "../../vendor/.git/objects\n");
    expect(fault()).toBeNull();
    writeFileSync(
      join(root, "vendor/.git/objects/info/alternates"),
      `${join(base, "private/.git/objects")}\n`,
    );
    expect(fault()).toMatchObject({ nature: "outside" });
  });
});

describe("git that gives no answer", () => {
  it("P19 is not waited for, and asked about", () => {
    gitIn(root, "init", "-q");
    rmSync(join(root, ".git/config"));
    execFileSync("mkfifo", [join(root, ".git/config")]);
    const started = Date.now();
    expect(fault()).toMatchObject({ nature: "program" });
    expect(Date.now() - started).toBeLessThan(10_000);
    rmSync(join(root, ".git/config"));
    symlinkSync("/dev/zero", join(root, ".git/config"));
    expect(fault()).not.toBeNull();
  });

  it("P21 broken settings are asked about", () => {
    gitIn(root, "init", "-q");
    writeFileSync(join(root, ".git/config"), "[core\n");
    expect(fault()).toMatchObject({ nature: "program", what: expect.stringContaining("could not say") });
  });

  it("P21 a git that the project brings is never asked", () => {
    makeRepository(root);
    cpSync(write("fake", "#!/bin/sh\ntouch canary\n"), join(root, "git"));
    chmodSync(join(root, "git"), 0o755);
    environment = { ...environment, PATH: `${root}:${process.env.PATH}` };
    expect(fault()).toBeNull();
    expect(existsSync(join(root, "canary"))).toBe(false);
  });

  it("P21 asking runs nothing of the repository", () => {
    makeRepository(root);
    gitIn(root, "config", "core.fsmonitor", `touch ${join(base, "canary")}`);
    gitIn(root, "config", "core.hooksPath", "hooks");
    gitIn(root, "config", "alias.rev-parse", `!touch ${join(base, "canary")}`);
    write("root/hooks/post-index-change", `#!/bin/sh\ntouch ${join(base, "canary")}\n`);
    chmodSync(join(root, "hooks/post-index-change"), 0o755);
    expect(fault()).not.toBeNull();
    expect(existsSync(join(base, "canary"))).toBe(false);
  });
});
