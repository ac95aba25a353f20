import { tmpdir } from "node:os";
import { chooseShell, findProgram, type ShellProgram } from "@burin/commands/processes/shell-program";
import { hasTerminal } from "@burin/commands/shell/commands";
import type { Settings } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { resolveBurinHome } from "../settings/load-settings.ts";

/** Which optional features this machine provides. */
export interface MachineFacts {
  readonly shell: Pick<ShellProgram, "title" | "path">;
  /** The path of its program; null if the optional package is not installed. */
  readonly ripgrep: string | null;
  /** `reason` says why there is none. `isShared`: whether commands reach servers that other commands started. */
  readonly sandbox:
    | { readonly works: true; readonly isShared: boolean }
    | { readonly works: false; readonly reason: string };
  /** Whether the optional packages are installed. */
  readonly hasTerminals: boolean;
  readonly hasKeychain: boolean;
  /** Why the proxy in the environment cannot be used, or null. */
  readonly proxyFault: string | null;
  /** What web search lacks. null if nothing is missing or no service is configured. */
  readonly searchFault: string | null;
}

interface FactsLocation {
  readonly root: string;
  readonly settings: Pick<Settings, "sandbox" | "web">;
  readonly environment: NodeJS.ProcessEnv;
}

/** Examines the machine. The only thing it starts is an empty sandbox, as a test. */
export async function readMachineFacts({
  root,
  settings,
  environment,
}: FactsLocation): Promise<MachineFacts> {
  const [{ findRipgrep }, { hasKeychain }] = await Promise.all([
    import("@burin/files/search/ripgrep"),
    import("@burin/mcp/keychain"),
  ]);
  const { title, path } = chooseShell(process.platform, (name) =>
    findProgram(name, environment.PATH, [root]),
  );
  return {
    shell: { title, path },
    ripgrep: findRipgrep(),
    sandbox: await checkSandbox({ root, settings, environment }),
    hasTerminals: hasTerminal(),
    hasKeychain: hasKeychain(),
    proxyFault: await findProxyFault(environment),
    searchFault: await findSearchFault(settings, environment),
  };
}

async function checkSandbox({
  root,
  settings,
  environment,
}: FactsLocation): Promise<MachineFacts["sandbox"]> {
  const { mode } = settings.sandbox;
  if (mode === "off") return { works: false, reason: "it is switched off in settings (sandbox.mode)" };
  const { canShareSpace, probeSandbox } = await import("@burin/commands/sandbox/sandbox-probe");
  const home = resolveBurinHome(environment);
  const limits = { mode, roots: [root], home, temporary: tmpdir(), environment };
  const state = await probeSandbox(limits, environment);
  if (state.sandbox === null) return { works: false, reason: state.reason };
  return { works: true, isShared: await canShareSpace(environment) };
}

async function findProxyFault(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { findProxyRoute } = await import("@burin/net/proxy");
  try {
    for (const scheme of ["http", "https"]) findProxyRoute(new URL(`${scheme}://example.com/`), environment);
    return null;
  } catch (error) {
    return describeError(error);
  }
}

async function findSearchFault({ web }: FactsLocation["settings"], environment: NodeJS.ProcessEnv) {
  if (web.search === undefined) return null;
  const { findSearchFault } = await import("@burin/web/search/search-web");
  return findSearchFault(web.search, environment);
}
