import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { explainSandboxRefusal, REFUSALS } from "./sandbox-refusal.ts";

const inside = { hasFailed: true, mode: "workspace-write", hasNetwork: false, roots: ["/project"] } as const;

describe("sandboxRefusal", () => {
  it.each([
    ["touch: cannot touch '/etc/x': Read-only file system", '"unlimited"'],
    ["Error: EROFS: read-only file system, open '/etc/x'", '"unlimited"'],
    ["error: could not write config file .git/config: Device or resource busy", '"unlimited"'],
    ["curl: (6) Could not resolve host: example.com", '"network"'],
    ["connect: Network is unreachable", '"network"'],
    ["npm error code EAI_AGAIN", '"network"'],
    ["getaddrinfo ENOTFOUND example.com", '"network"'],
    ["Error: listen EPERM: operation not permitted /tmp/x.sock", '"network"'],
    [
      "line 232, in __init__\n  _socket.socket.__init__(self)\nPermissionError: [Errno 1] Operation not permitted",
      '"network"',
    ],
    ["chown: changing ownership of 'x': Operation not permitted", '"unlimited"'],
  ])("P53 %s: says so, with the exception to ask for", (text, exception) => {
    expect(explainSandboxRefusal(text, inside)).toContain(`"sandbox_exception": ${exception}`);
  });

  it.each([
    ["any other failure", "make: *** [all] Error 2", inside],
    ["the network where it is granted", "Could not resolve host: nope", { ...inside, hasNetwork: true }],
    [
      "words on the network in a command that worked",
      "Could not resolve host",
      { ...inside, hasFailed: false },
    ],
  ])("P53 says nothing for %s", (_title, text, refusalCase) => {
    expect(explainSandboxRefusal(text, refusalCase)).toBeNull();
  });

  it("P53 names what can be written", () => {
    expect(explainSandboxRefusal("EROFS", inside)).toContain("only /project and /tmp");
    expect(explainSandboxRefusal("EROFS", { ...inside, mode: "read-only" })).toContain("it is read-only");
  });

  it.each(REFUSALS.map(([kind, , example]) => [example, kind] as const))(
    "P53 %s is a refused %s",
    (example, kind) => {
      const words = {
        cache: "a write to a cache",
        write: "refused a write: ",
        network: "has no network",
        socket: "allows no Unix sockets",
        right: "no administrative rights",
      };
      expect(explainSandboxRefusal(`some output\n${example}\nmore\n`, inside)).toContain(words[kind]);
    },
  );

  it("P53 where hosts are reached by name, the line names the host, and for Unix sockets what really allows them", () => {
    const byName = { ...inside, reachesByName: true };
    expect(explainSandboxRefusal("curl: (6) Could not resolve host: example.com", byName)).toContain(
      '"sandbox": { "network": ["example.com"] }',
    );
    const socket = explainSandboxRefusal("Error: listen EPERM: operation not permitted /tmp/x.sock", byName);
    expect(socket).toContain('"sandbox_exception": "unlimited"');
    expect(socket).toContain('"sandbox": { "network": true }');
  });
});

describe("a project in /tmp", requirePrograms("bwrap"), () => {
  it("P53 names what lies beside it and cannot be seen, and works with it as a further folder", async () => {
    const base = realpathSync(mkdtempSync("/tmp/burin-beside-"));
    const root = join(base, "project");
    const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one";
    const prepare = `git init -q --bare origin.git && git init -q project && cd project && git remote add origin ../origin.git && ${commit}`;
    execFileSync("bash", ["-c", prepare], { cwd: base });
    writeFileSync(join(base, "shared.txt"), "shared\n");
    const environment = { ...process.env, BURIN_HOME: join(base, "home") };
    const run = async (command: string, includeDirectories: string[] = []) => {
      const toolbox = createToolbox({ root, includeDirectories, environment, approvalMode: "yolo" });
      const { llmContent } = await toolbox.call("run_shell_command", { command });
      await toolbox.close();
      return String(llmContent);
    };
    try {
      const refused = await run("git push -q origin HEAD:main");
      expect(refused).toContain("The sandbox refused a write");
      expect(refused).not.toContain("Exit code: 0");
      const text = await run("cat ../shared.txt");
      expect(text).toContain(`${base}/shared.txt cannot be seen`);
      expect(text).toContain('"sandbox_exception": "unlimited"');
      expect(text).toContain("--include-directories");
      expect(await run("cat ../nothing.txt ./nothing.txt")).not.toContain("cannot be seen");
      for (const command of ["git clone -q . ../copy", "cp -r . ../copy", "mkdir -p ../copy/deep"]) {
        const said = await run(command);
        expect(said).toContain(`${base}/copy exists only there`);
        expect(said).toContain('"sandbox_exception": "unlimited"');
      }
      expect(await run("git clone -q . /tmp/copy && echo x > ./here")).not.toContain("exists only there");
      expect(await run("git push -q origin HEAD:main", [join(base, "origin.git")])).toContain("Exit code: 0");
    } finally {
      rmSync(base, { recursive: true });
    }
  });

  it("P53 reads the repositories beside it that git's settings or the words name, and nothing else there", async () => {
    const base = realpathSync(mkdtempSync("/tmp/burin-beside-"));
    const root = join(base, "project");
    const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m";
    const prepare = `git init -q -b main other && cd other && ${commit} one && cd .. && git clone -q --bare other origin.git
      git clone -q origin.git project && cd other && ${commit} two && git push -q ../origin.git main`;
    execFileSync("bash", ["-c", prepare], { cwd: base });
    writeFileSync(join(base, "secret.txt"), "secret\n");
    const environment = { ...process.env, BURIN_HOME: join(base, "home"), BESIDE: base };
    const toolbox = createToolbox({ root, environment, approvalMode: "yolo" });
    const run = async (command: string) => {
      const { llmContent } = await toolbox.call("run_shell_command", { command });
      return String(llmContent);
    };
    try {
      expect(await run("git pull -q && git log --format=%s")).toMatch(/^two$/m);
      expect(await run("git clone -q ../other copy && git -C copy log --format=%s")).toMatch(/^two$/m);
      expect(await run('git ls-remote "$BESIDE/other"')).toContain("refs/heads/main");
      expect(await run("echo x > ../origin.git/HEAD; ls ../origin.git; ls ..; git status -s")).not.toContain(
        "secret",
      );
      expect(execFileSync("git", ["-C", join(base, "origin.git"), "branch"]).toString()).toBe("* main\n");
      // What commands have made themselves in their own temporary folder is not covered by what lies outside.
      const bare = `${base}/later.git`;
      await run(`git init -q --bare ${bare}`);
      execFileSync("git", ["clone", "-q", "--bare", join(base, "other"), bare]);
      expect(await run(`git --git-dir ${bare} for-each-ref`)).not.toContain("refs/heads/main");
    } finally {
      await toolbox.close();
      rmSync(base, { recursive: true });
    }
  });
});
