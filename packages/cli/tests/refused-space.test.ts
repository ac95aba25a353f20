import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, waitForExit } from "./burin.ts";
import { root } from "./project.ts";

/** As in a container, or under AppArmor: the programs of a session may not enter one space. */
function burinRefused(...args: string[]) {
  const refusing = join(createTemporaryFolder(), "nsenter");
  writeFileSync(refusing, "#!/bin/sh\necho 'nsenter: Operation not permitted' >&2\nexit 1\n");
  chmodSync(refusing, 0o755);
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const script = `mount --bind '${refusing}' "$(command -v nsenter)" && exec "$@"`;
  const words = [...asRoot, "--mount", "sh", "-c", script, "sh", process.execPath, BURIN, ...args];
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return waitForExit(spawn("unshare", words, { cwd: root, env: buildEnvironment(root), stdio: [...stdio] }));
}

const call = (command: string, more = {}) =>
  burinRefused("call", "run_shell_command", JSON.stringify({ command, ...more }), "-y", "--root", root);

describe("where nsenter is refused", requirePrograms("bwrap"), () => {
  it("P53 a command runs in a space of its own, as limited as ever, and its end is true", async () => {
    const line = "echo works > a.txt; cat a.txt; echo x > /usr/owned || echo refused; (sleep 60 &); exit 3";
    const { stdout } = await call(line);
    expect(stdout).toMatch(/Exit code: 3\n[\s\S]*works\n[\s\S]*refused/);
    expect(stdout).not.toMatch(/nsenter|Left running/);
  });

  it("P8 P53 a server is told that no other command reaches it, and doctor says why", async () => {
    const { stdout } = await call("sleep 60", { is_background: true });
    expect(stdout).toMatch(/Started in the background as bg_1\./);
    expect(stdout).toContain("On this system each command has a network of its own");
    const doctor = await burinRefused("doctor");
    expect(doctor.stdout).toContain("nsenter is missing or not allowed");
  });
});
