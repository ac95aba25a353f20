import { tmpdir } from "node:os";
import type { ShellProgram } from "@burin/commands/processes/shell-program";
import { hasTerminal } from "@burin/commands/shell/commands";
import type { Settings } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { burinHome } from "../settings/load-settings.ts";

/** Which of the things that Burin can use this machine has. */
export interface MachineFacts {
  readonly shell: Pick<ShellProgram, "title" | "path">;
  /** Its program; null when its optional package is not installed. */
  readonly ripgrep: string | null;
  /** `reason` says why there is none; `isShared`, whether commands reach the servers of others in their session. */
  readonly sandbox:
    | { readonly works: true; readonly isShared: boolean }
    | { readonly works: false; readonly reason: string };
  /** Whether the optional packages are installed. */
  readonly hasTerminals: boolean;
  readonly hasKeychain: boolean;
  /** Why the proxy in the environment cannot be used. */
  readonly proxyFault: string | null;
  /** What a web search is missing; null when no service is configured or nothing is missing. */
  readonly searchFault: string | null;
}

interface Place {
  readonly root: string;
  readonly settings: Pick<Settings, "sandbox" | "web">;
  readonly environment: NodeJS.ProcessEnv;
}

/** Examines the machine. Starts nothing but the system's own sandbox, with nothing in it. */
export async function machineFacts({ root, settings, environment }: Place): Promise<MachineFacts> {
  const [shells, { ripgrepProgram }, { hasKeychain }] = await Promise.all([
    import("@burin/commands/processes/shell-program"),
    import("@burin/files/search/ripgrep"),
    import("@burin/mcp/keychain"),
  ]);
  const { title, path } = shells.chooseShell(process.platform, (name) =>
    shells.findProgram(name, environment.PATH, [root]),
  );
  return {
    shell: { title, path },
    ripgrep: ripgrepProgram(),
    sandbox: await sandboxFact({ root, settings, environment }),
    hasTerminals: hasTerminal(),
    hasKeychain: hasKeychain(),
    proxyFault: await proxyFault(environment),
    searchFault: await searchFault(settings, environment),
  };
}

async function sandboxFact({ root, settings, environment }: Place): Promise<MachineFacts["sandbox"]> {
  const { mode } = settings.sandbox;
  if (mode === "off") return { works: false, reason: "it is switched off in settings (sandbox.mode)" };
  const { canShareSpace, probeSandbox } = await import("@burin/commands/sandbox/sandbox-probe");
  const home = burinHome(environment);
  const state = await probeSandbox({ mode, roots: [root], home, temporary: tmpdir() }, environment);
  if (state.sandbox === null) return { works: false, reason: state.reason };
  return { works: true, isShared: await canShareSpace(environment) };
}

async function proxyFault(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { routeTo } = await import("@burin/net/proxy");
  try {
    for (const scheme of ["http", "https"]) routeTo(new URL(`${scheme}://example.com/`), environment);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

async function searchFault({ web }: Place["settings"], environment: NodeJS.ProcessEnv) {
  if (web.search === undefined) return null;
  const { searchFault } = await import("@burin/web/search/search-web");
  return searchFault(web.search, environment);
}
