import { execFileSync, spawn } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BURIN, buildEnvironment, waitForExit } from "./burin.ts";
import { put, root as top } from "./project.ts";

const INHERITED = 20;

/** Burin as a program starts it that left a folder open. */
async function burinWithFolder(folder: string, args: readonly string[], stdin = "") {
  const opened = openSync(folder, "r");
  const gap = Array.from({ length: INHERITED - 3 }, () => "ignore" as const);
  const child = spawn(process.execPath, [BURIN, ...args], {
    cwd: join(top, "project"),
    env: { ...buildEnvironment(top), HOME: top, PATH: `${join(top, "bin")}:${process.env.PATH}` },
    stdio: ["pipe", "pipe", "pipe", ...gap, opened],
  });
  closeSync(opened);
  child.stdin?.end(stdin);
  return waitForExit(child);
}

function shell(params: object, ...options: string[]): Promise<{ readonly stdout: string }> {
  const call = ["call", "run_shell_command", JSON.stringify(params), "-y", ...options];
  return burinWithFolder(join(top, "outside"), call);
}

it("P53 a folder that was open before Burin started is open in no child of it", async () => {
  for (const name of ["project", "outside", "bin", ".home"]) mkdirSync(join(top, name));
  execFileSync("git", ["init", "-q"], { cwd: join(top, "project") });
  put("project/a.txt", "needle\n");
  put("outside/secret.txt", "secret\n");
  const marks = join(top, "outside");
  const mark = `touch /dev/fd/${INHERITED}/$NAME 2>/dev/null; ls /proc/self/fd/${INHERITED}/`;
  for (const sandbox of ["workspace-write", "off"]) {
    for (const terminal of [false, true]) {
      const command = mark.replace("$NAME", `shell-${sandbox}-${terminal}`);
      const { stdout } = await shell({ command, terminal }, "--sandbox", sandbox);
      expect(stdout).toContain("Exit code");
      expect(stdout).not.toContain("secret.txt");
    }
  }
  // Helpers, hooks, servers and the command that declares tools.
  for (const name of ["git", "server"]) {
    put(
      `bin/${name}`,
      `#!/bin/sh\n${mark.replace("$NAME", name)} >/dev/null 2>&1\necho ${name} >> ${top}/started\nexit 1\n`,
    );
    chmodSync(join(top, "bin", name), 0o755);
  }
  const started = (name: string) =>
    `${mark.replace("$NAME", name)} >/dev/null; echo ${name} >> ${top}/started`;
  put(".home/settings.json", {
    tools: {
      toolDiscoveryCommand: `${mark.replace("$NAME", "discovery")} >&2; echo '[{"name":"found"}]'`,
      toolCallCommand: "cat",
    },
    mcpServers: { one: { command: join(top, "bin/server") } },
    hooks: [{ event: "before_tool", command: `${started("hook")}; echo '{}'` }],
  });
  const { stdout, stderr } = await burinWithFolder(marks, ["tools"]);
  expect(stdout).toContain("found");
  expect(stdout + stderr).not.toContain("secret.txt");
  await burinWithFolder(marks, ["call", "run_shell_command", '{"command":"git status"}']);
  expect(readFileSync(join(top, "started"), "utf8").split("\n")).toEqual(
    expect.arrayContaining(["git", "server", "hook"]),
  );
  expect(readdirSync(marks)).toEqual(["secret.txt"]);
});

it("P53 a command that reads a file that was open before Burin started reads an empty one, in plan mode too", async () => {
  mkdirSync(join(top, "project"));
  const file = put("outside.txt", "secret\n");
  for (const command of [`cat /dev/fd/${INHERITED}`, `cat /proc/self/fd/${INHERITED}`]) {
    const call = ["call", "run_shell_command", JSON.stringify({ command }), "--approval-mode", "plan"];
    const { stdout, stderr } = await burinWithFolder(file, call);
    expect(stdout + stderr).not.toContain("secret");
    expect(stdout + stderr).not.toBe("");
  }
  expect(existsSync(file)).toBe(true);
});
