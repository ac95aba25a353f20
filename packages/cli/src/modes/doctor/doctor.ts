import { WebSearch } from "@burin/core";
import {
  burinHome,
  folderTrust,
  type MachineFacts,
  machineFacts,
  messageOf,
  type Settings,
} from "@burin/core/internal";
import { type CommonOptions, type Opened, openSettings } from "../../request/options.ts";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-code.ts";
import { counted, report } from "../../terminal/output.ts";
import { fitRows } from "../../terminal/styled-line.ts";
import { statesOf } from "../mcp.ts";
import {
  examineHome,
  examineLocalServers,
  examineModel,
  examineUndo,
  type Finding,
  findings,
  withoutLogin,
} from "./examine.ts";

const LEAST_NODE = [20, 19] as const;
const PROXY_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/** Checks what Burin needs here, one line each. Starts nothing that the folder brings. */
export async function run({ options, own }: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  const all = [nodeFinding(), examineHome(burinHome(process.env))];
  const { opened, finding } = await settingsFinding(options);
  all.push(finding);
  const isOnline = own.online === true;
  const { root } = options;
  if (opened !== null) all.push(...(await settled({ root, settings: opened.settings, isOnline }, signal)));
  all.push(await examineLocalServers(signal));
  if (signal.aborted) return EXIT.interrupted;
  const isWell = all.every(({ state }) => state !== "fail");
  const rows = all.map(
    ({ name, state, message }) =>
      `${state.padEnd(5)} ${name.padEnd(14)} ${message.replace(/\s*\n\s*/g, " ")}`,
  );
  report(output, options.outputFormat, {
    document: { ok: isWell, findings: all },
    rows: fitRows(rows, output.isTerminal),
  });
  return isWell ? EXIT.done : EXIT.failed;
}

function nodeFinding(): Finding {
  const { ok, fail } = findings("Node");
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  if (isEnough) return ok(`${process.version} on ${process.platform}-${process.arch}.`);
  return fail(`${process.version} is too old: Burin needs ${LEAST_NODE.join(".")} or newer.`);
}

async function settingsFinding(options: CommonOptions): Promise<{ opened: Opened | null; finding: Finding }> {
  const { ok, warn, fail } = findings("settings");
  try {
    const opened = await openSettings(options);
    const told = opened.notices.join(" ");
    return { opened, finding: told === "" ? ok("Every settings file can be read.") : warn(told) };
  } catch (error) {
    const message = messageOf(error);
    return { opened: null, finding: fail(`${message} Checks that need the settings were skipped.`) };
  }
}

interface Ground {
  readonly root: string;
  readonly settings: Settings;
  readonly isOnline: boolean;
}

async function settled(ground: Ground, signal: AbortSignal): Promise<Finding[]> {
  const { root, settings, isOnline } = ground;
  const facts = await machineFacts({ root, settings, environment: process.env });
  return [
    ...machineFindings(facts),
    await examineModel(settings, isOnline, signal),
    proxyFinding(facts),
    searchFinding(settings, facts),
    ...(await mcpFindings(ground, signal)),
    await trustFinding(root),
    await examineUndo(root, settings, signal),
  ];
}

function sandboxFinding(sandbox: MachineFacts["sandbox"]): Finding {
  const sandboxed = findings("sandbox");
  if (!sandbox.works) return sandboxed.warn(`Commands are not confined: ${sandbox.reason}.`);
  if (sandbox.isShared) return sandboxed.ok("Commands can be confined.");
  return sandboxed.warn(
    "Commands can be confined, but not together (nsenter is missing or not allowed): none reaches a server that another has started, and what one leaves running ends with it.",
  );
}

function machineFindings({ shell, ripgrep, sandbox, hasTerminals, hasKeychain }: MachineFacts): Finding[] {
  const keys = findings("keychain");
  const searching = findings("ripgrep");
  const terminals = findings("terminals");
  return [
    findings("shell").ok(`${shell.title}, ${shell.path}`),
    ripgrep === null
      ? searching.warn("Not installed (its package is optional): files are searched more slowly.")
      : searching.ok(ripgrep),
    sandboxFinding(sandbox),
    hasTerminals
      ? terminals.ok("Commands can use a terminal.")
      : terminals.warn("@lydell/node-pty is not installed (it is optional): commands cannot use a terminal."),
    hasKeychain
      ? keys.ok("Logins to MCP servers are stored in the system's keychain if it can be opened.")
      : keys.warn("@napi-rs/keyring is not installed (it is optional): logins are stored in a private file."),
  ];
}

function proxyFinding({ proxyFault }: MachineFacts): Finding {
  const { ok, fail } = findings("proxy");
  const set = PROXY_VARIABLES.flatMap((name) => {
    const value = process.env[name.toLowerCase()] || process.env[name];
    return value ? [`${name}=${withoutLogin(value)}`] : [];
  });
  if (proxyFault !== null) return fail(`${proxyFault}: ${set.join(", ")}.`);
  return ok(set.length === 0 ? "None is named in the environment." : set.join(", "));
}

function searchFinding({ web: { search } }: Settings, { searchFault }: MachineFacts): Finding {
  const { ok, warn } = findings("web search");
  if (search === undefined) return warn(new WebSearch().missing ?? "");
  return searchFault === null ? ok(`${search.provider}.`) : warn(searchFault);
}

async function mcpFindings({ root, settings, isOnline }: Ground, signal: AbortSignal): Promise<Finding[]> {
  const { ok, fail } = findings("MCP");
  const aliases = Object.keys(settings.mcpServers);
  if (aliases.length === 0) return [ok("No server is named.")];
  if (!isOnline) return [ok(`${aliases.join(", ")}; not started (--online starts it).`)];
  const states = await statesOf(aliases, { root, settings }, signal);
  return aliases.map((alias, index) => {
    const { tools = 0, error } = states[index] ?? {};
    return error === undefined ? ok(`${alias}: ${counted(tools, "tool")}.`) : fail(`${alias}: ${error}`);
  });
}

async function trustFinding(root: string): Promise<Finding> {
  const { ok, warn, fail } = findings("trust");
  try {
    const found = await folderTrust({ home: burinHome(process.env), root });
    if (found === null) return ok("The folder has no settings of its own.");
    if (found.fault !== undefined) return fail(found.fault);
    if (found.state === "trusted") return ok("The folder's own settings are followed.");
    if (found.state === "refused") return ok("The folder's own settings are not followed, as you decided.");
    const why =
      found.state === "changed" ? "they have changed since you trusted them" : "the folder is not trusted";
    return warn(`The folder's own settings are not followed: ${why}. See burin trust.`);
  } catch (error) {
    return fail(messageOf(error));
  }
}
