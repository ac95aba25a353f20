import { WebSearch } from "@burin/core";
import {
  describeError,
  type MachineFacts,
  readFolderTrust,
  readMachineFacts,
  resolveBurinHome,
  type Settings,
} from "@burin/core/internal";
import { type CommonOptions, type Opened, openSettings } from "../../request/options.ts";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-code.ts";
import { formatCount, printFindings } from "../../terminal/output.ts";
import { fitRows } from "../../terminal/styled-line.ts";
import { probeServers } from "../mcp.ts";
import {
  createFindings,
  examineHome,
  examineLocalServers,
  examineModel,
  examineUndo,
  type Finding,
  removeUrlSecrets,
} from "./examine.ts";

const MIN_NODE = [20, 19] as const;
const PROXY_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/** Checks what Burin needs on this machine, one line per check. Starts nothing that the folder's settings name. */
export async function run(
  { options, subcommandOptions }: SubcommandRequest,
  { output, signal }: Io,
): Promise<ExitCode> {
  const all = [examineNode(), examineHome(resolveBurinHome(process.env))];
  const { opened, finding } = await examineSettings(options);
  all.push(finding);
  const isOnline = subcommandOptions.online === true;
  const { root } = options;
  if (opened !== null) all.push(...(await examineAll({ root, settings: opened.settings, isOnline }, signal)));
  all.push(await examineLocalServers(signal));
  if (signal.aborted) return EXIT.interrupted;
  const isWell = all.every(({ state }) => state !== "fail");
  const rows = all.map(
    ({ name, state, message }) =>
      `${state.padEnd(5)} ${name.padEnd(14)} ${message.replace(/\s*\n\s*/g, " ")}`,
  );
  printFindings(output, options.outputFormat, {
    document: { ok: isWell, findings: all },
    rows: fitRows(rows, output.isTerminal),
  });
  return isWell ? EXIT.done : EXIT.failed;
}

function examineNode(): Finding {
  const { ok, fail } = createFindings("Node");
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  if (isEnough) return ok(`${process.version} on ${process.platform}-${process.arch}.`);
  return fail(`${process.version} is too old: Burin needs ${MIN_NODE.join(".")} or newer.`);
}

async function examineSettings(options: CommonOptions): Promise<{ opened: Opened | null; finding: Finding }> {
  const { ok, warn, fail } = createFindings("settings");
  try {
    const opened = await openSettings(options);
    const told = opened.notices.join(" ");
    return { opened, finding: told === "" ? ok("Every settings file can be read.") : warn(told) };
  } catch (error) {
    const message = describeError(error);
    return { opened: null, finding: fail(`${message} Checks that need the settings were skipped.`) };
  }
}

interface DoctorOptions {
  readonly root: string;
  readonly settings: Settings;
  readonly isOnline: boolean;
}

async function examineAll(ground: DoctorOptions, signal: AbortSignal): Promise<Finding[]> {
  const { root, settings, isOnline } = ground;
  const facts = await readMachineFacts({ root, settings, environment: process.env });
  return [
    ...examineMachine(facts),
    await examineModel(settings, isOnline, signal),
    examineProxy(facts),
    examineSearch(settings, facts),
    ...(await examineMcp(ground, signal)),
    await examineTrust(root),
    await examineUndo(root, settings, signal),
  ];
}

function examineSandbox(sandbox: MachineFacts["sandbox"]): Finding {
  const sandboxed = createFindings("sandbox");
  if (!sandbox.works) return sandboxed.warn(`Commands are not confined: ${sandbox.reason}.`);
  if (sandbox.isShared) return sandboxed.ok("Commands can be confined.");
  return sandboxed.warn(
    [
      "Commands can be confined, but not together (nsenter is missing or not allowed):",
      "none reaches a server that another has started, and what one leaves running ends with it.",
    ].join(" "),
  );
}

function examineMachine({ shell, ripgrep, sandbox, hasTerminals, hasKeychain }: MachineFacts): Finding[] {
  const keys = createFindings("keychain");
  const searching = createFindings("ripgrep");
  const terminals = createFindings("terminals");
  return [
    createFindings("shell").ok(`${shell.title}, ${shell.path}`),
    ripgrep === null
      ? searching.warn("Not installed (its package is optional): files are searched more slowly.")
      : searching.ok(ripgrep),
    examineSandbox(sandbox),
    hasTerminals
      ? terminals.ok("Commands can use a terminal.")
      : terminals.warn("@lydell/node-pty is not installed (it is optional): commands cannot use a terminal."),
    hasKeychain
      ? keys.ok("Logins to MCP servers are stored in the system's keychain if it can be opened.")
      : keys.warn("@napi-rs/keyring is not installed (it is optional): logins are stored in a private file."),
  ];
}

function examineProxy({ proxyFault }: MachineFacts): Finding {
  const { ok, fail } = createFindings("proxy");
  const set = PROXY_VARIABLES.flatMap((name) => {
    const value = process.env[name.toLowerCase()] || process.env[name];
    return value ? [`${name}=${removeUrlSecrets(value)}`] : [];
  });
  if (proxyFault !== null) return fail(`${proxyFault}: ${set.join(", ")}.`);
  return ok(set.length === 0 ? "None is named in the environment." : set.join(", "));
}

function examineSearch({ web: { search } }: Settings, { searchFault }: MachineFacts): Finding {
  const { ok, warn } = createFindings("web search");
  if (search === undefined) return warn(new WebSearch().missing ?? "");
  return searchFault === null ? ok(`${search.provider}.`) : warn(searchFault);
}

async function examineMcp(
  { root, settings, isOnline }: DoctorOptions,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { ok, fail } = createFindings("MCP");
  const aliases = Object.keys(settings.mcpServers);
  if (aliases.length === 0) return [ok("No server is named.")];
  if (!isOnline) return [ok(`${aliases.join(", ")}; not started (--online starts it).`)];
  const states = await probeServers(aliases, { root, settings }, signal);
  return aliases.map((alias, index) => {
    const { tools = 0, error } = states[index] ?? {};
    return error === undefined ? ok(`${alias}: ${formatCount(tools, "tool")}.`) : fail(`${alias}: ${error}`);
  });
}

async function examineTrust(root: string): Promise<Finding> {
  const { ok, warn, fail } = createFindings("trust");
  try {
    const found = await readFolderTrust({ home: resolveBurinHome(process.env), root });
    if (found === null) return ok("The folder has no settings of its own.");
    if (found.fault !== undefined) return fail(found.fault);
    if (found.state === "trusted") return ok("The folder's own settings are followed.");
    if (found.state === "refused") return ok("The folder's own settings are not followed, as you decided.");
    const why =
      found.state === "changed" ? "they have changed since you trusted them" : "the folder is not trusted";
    return warn(`The folder's own settings are not followed: ${why}. See burin trust.`);
  } catch (error) {
    return fail(describeError(error));
  }
}
