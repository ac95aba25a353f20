import { findHelper, leaveOutFolders } from "../processes/helper-program.ts";
import { succeeds } from "../processes/run-process.ts";
import type { SandboxLimits, SandboxState } from "./sandbox.ts";
import { linuxSandbox } from "./sandbox-linux.ts";
import { macSandbox } from "./sandbox-mac.ts";

/** A probe that succeeded is valid for every mode and session of this process. */
const working = new Set<string>();

/** Finds out, by trying, whether commands can be limited here. */
export async function probeSandbox(
  limits: SandboxLimits,
  environment: NodeJS.ProcessEnv,
): Promise<SandboxState> {
  leaveOutFolders(limits.roots);
  switch (process.platform) {
    case "linux": {
      const program = findHelper("bwrap", environment.PATH);
      if (program === null)
        return none("bwrap was not found; install bubblewrap (e.g. apt install bubblewrap)");
      const sandbox = linuxSandbox(program, limits);
      if (!working.has(program) && (await succeeds(program, sandbox.probe(), environment)))
        working.add(program);
      return working.has(program)
        ? { sandbox }
        : none("bwrap is installed, but this system does not let it make namespaces");
    }
    case "darwin": {
      const sandbox = macSandbox(limits);
      return (await succeeds(...sandbox.probe(), environment))
        ? { sandbox }
        : none("sandbox-exec does not work here");
    }
    default:
      return none(`there is no sandbox for ${process.platform}`);
  }
}

function none(reason: string): SandboxState {
  return { sandbox: null, reason };
}
