import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { excludeFromHelperSearch, findHelper } from "../processes/helper-program.ts";
import { TEMPORARY_PREFIX } from "../processes/process-ledger.ts";
import { tryRunProgram } from "../processes/run-process.ts";
import { Supervisor } from "../processes/supervisor.ts";
import { checkOnMachine } from "./check-on-machine.ts";
import type { SandboxLimits, SandboxState } from "./sandbox.ts";
import { buildSpaceProbe, createLinuxSandbox } from "./sandbox-linux.ts";
import { createMacSandbox } from "./sandbox-mac.ts";
import { SessionSpace } from "./session-space.ts";

/** Finds out, by trying, whether commands can be limited here. */
export async function probeSandbox(
  limits: SandboxLimits,
  environment: NodeJS.ProcessEnv,
): Promise<SandboxState> {
  excludeFromHelperSearch(limits.roots);
  switch (process.platform) {
    case "linux": {
      const program = findHelper("bwrap", environment.PATH);
      if (program === null)
        return createUnavailable("bwrap was not found; install bubblewrap (e.g. apt install bubblewrap)");
      const sandbox = createLinuxSandbox(program, limits);
      const probe = () => canLimit(limits, () => tryRunProgram(program, sandbox.probe(), environment));
      return (await checkOnMachine(program, probe))
        ? { sandbox }
        : createUnavailable("bwrap is installed, but this system does not let it make namespaces");
    }
    case "darwin": {
      const sandbox = createMacSandbox(limits);
      return (await tryRunProgram(...sandbox.probe(), environment))
        ? { sandbox }
        : createUnavailable("sandbox-exec does not work here");
    }
    default:
      return createUnavailable(`there is no sandbox for ${process.platform}`);
  }
}

/** Where a session has its space, a command has run in one already: that is the same and more. */
async function canLimit({ space }: SandboxLimits, probe: () => Promise<boolean>): Promise<boolean> {
  const shared = await space?.().catch(() => null);
  return Boolean(shared) || probe();
}

/** Resolves to null where the system does not let several commands share one. */
export async function openSpace(
  supervisor: Supervisor,
  { PATH }: NodeJS.ProcessEnv,
): Promise<SessionSpace | null> {
  const isRoot = process.getuid?.() === 0;
  const [bubblewrap, nsenter] = ["bwrap", "nsenter"].map((name) => findHelper(name, PATH));
  if (process.platform !== "linux" || !bubblewrap || !nsenter) return null;
  const probe = buildSpaceProbe(isRoot);
  return SessionSpace.open({ bubblewrap, nsenter, supervisor, environment: { PATH }, isRoot, probe });
}

/** Finds out, by trying, whether the commands of a session can reach each other's servers here. */
export async function canShareSpace(environment: NodeJS.ProcessEnv): Promise<boolean> {
  if (process.platform !== "linux") return true;
  // A caller that only looks leaves nothing in Burin's home.
  const home = await mkdtemp(join(tmpdir(), TEMPORARY_PREFIX));
  const supervisor = new Supervisor({ home, environment });
  const space = await openSpace(supervisor, environment);
  await space?.close();
  supervisor.ledger.close();
  await rm(home, { recursive: true, force: true });
  return space !== null;
}

function createUnavailable(reason: string): SandboxState {
  return { sandbox: null, reason };
}
