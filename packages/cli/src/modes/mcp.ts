import { join } from "node:path";
import { createToolbox } from "@burin/core";
import {
  changeSettings,
  describeError,
  type McpDoor,
  redactSecrets,
  resolveBurinHome,
  type Settings,
} from "@burin/core/internal";
import { type CommonOptions, openSettings } from "../request/options.ts";
import { readText, readTexts } from "../request/read-values.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { noteNotices } from "../terminal/notes.ts";
import {
  formatCount,
  formatNote,
  joinLines,
  type Output,
  printFindings,
  visible,
} from "../terminal/output.ts";
import { openStdinLines } from "../terminal/stdin-lines.ts";

type Mode = (request: SubcommandRequest, io: Io) => Promise<ExitCode>;
type SubcommandOptions = SubcommandRequest["subcommandOptions"];
type Server = Settings["mcpServers"][string];

const NO_SERVERS = "burin: no MCP servers in settings. See burin mcp add.";
const FORMS = "write burin mcp add, list, remove, test or login. See burin help mcp.";

const ACTIONS: Readonly<Record<string, Mode>> = { add: addServer, remove, list, test, login };

export function run(request: SubcommandRequest, io: Io): Promise<ExitCode> {
  const [what, ...words] = request.words;
  const action = Object.hasOwn(ACTIONS, what ?? "") ? ACTIONS[what ?? ""] : undefined;
  if (action !== undefined) return action({ ...request, words }, io);
  throw new UsageError(what === undefined ? FORMS : `burin mcp has no "${what}"; ${FORMS}`);
}

async function addServer(
  { words, subcommandOptions, options }: SubcommandRequest,
  { output, signal }: Io,
): Promise<ExitCode> {
  const [alias, target, ...args] = words;
  if (alias === undefined || target === undefined)
    throw new UsageError("give an alias, and the command or URL: burin mcp add files npx some-mcp-server .");
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/.test(alias))
    throw new UsageError(`"${alias}" cannot be an alias: 1 to 30 letters, digits, "_" or "-".`);
  const definition = buildDefinition(target, args, subcommandOptions);
  const { file, isProject } = resolveScope(subcommandOptions, options);
  const known = (await openSettings(options)).settings.mcpServers[alias];
  if (known !== undefined && subcommandOptions.replace !== true) {
    const shown = await redactSecrets(known, { environment: process.env, servers: { [alias]: known } });
    throw new UsageError(
      `there is already a server "${alias}" (${formatReach(shown)}). Choose another name, or put --replace before "${alias}".`,
    );
  }
  await changeSettings(file, ["mcpServers", alias], definition);
  const added = `burin: added ${alias} to ${file}`;
  if (isProject) {
    output.note(`${added}.`);
    output.note("burin: servers of a project only start in a trusted folder. Run: burin trust");
    return EXIT.done;
  }
  // Test the server now: problems are reported at once, and its tools are known from the first session on.
  const { settings } = await openSettings(options);
  const server = { alias, settings, options };
  try {
    await useServer(server, async (door) => {
      const offered = await door.test(alias, signal);
      output.note(`${added}.`);
      printOffer(alias, offered, output);
    });
    return EXIT.done;
  } catch (error) {
    // If a login is needed, that is the next step and not a failure. Any other failure may be fixed by a key, or when
    // the network is back.
    const needsLogin = error instanceof Error && "code" in error && error.code === "mcp_needs_login";
    const way = needsLogin
      ? ""
      : ` Try it again with burin mcp test ${alias}, or take it out with burin mcp remove ${alias}.`;
    const but = needsLogin ? "." : ", but it does not work yet:";
    output.note(visible(`${added}${but} ${describeError(error)}${way}`));
    return needsLogin ? EXIT.done : EXIT.failed;
  }
}

function buildDefinition(
  target: string,
  args: readonly string[],
  subcommandOptions: SubcommandOptions,
): Record<string, unknown> {
  const transport = readText(subcommandOptions.transport) ?? (/^https?:\/\//.test(target) ? "auto" : "stdio");
  if (!["stdio", "http", "sse", "auto"].includes(transport))
    throw new UsageError(`--transport must be stdio, http or sse, not "${transport}".`);
  const trust = subcommandOptions.trust === true ? { trust: true } : {};
  const env = parsePairs(
    readTexts(subcommandOptions.env),
    /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s,
    "--env NAME=value",
  );
  const headers = parsePairs(
    readTexts(subcommandOptions.header),
    /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/s,
    "--header 'Name: value'",
  );
  const [hasEnv, hasHeaders] = [env, headers].map((values) => Object.keys(values).length > 0);
  if (transport !== "stdio") {
    if (args.length > 0) throw new UsageError(`a URL takes no arguments, but "${args[0]}" was given.`);
    if (hasEnv) throw new UsageError("--env cannot be combined with a URL.");
    const type = transport === "auto" ? {} : { type: transport };
    return { ...type, url: target, ...(hasHeaders && { headers }), ...trust };
  }
  if (hasHeaders) throw new UsageError("--header can only be used with a URL.");
  return { command: target, args, ...(hasEnv && { env }), ...trust };
}

function parsePairs(given: readonly string[], form: RegExp, shown: string): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const [, name, value] = form.exec(one) ?? [];
      if (name === undefined || value === undefined) throw new UsageError(`"${one}" is not ${shown}.`);
      return [name, value];
    }),
  );
}

async function remove(
  { words, subcommandOptions, options }: SubcommandRequest,
  { output }: Io,
): Promise<ExitCode> {
  const alias = requireOneWord(words, "remove");
  const { file } = resolveScope(subcommandOptions, options);
  const { settings } = await openSettings(options);
  findServer(settings, alias);
  await changeSettings(file, ["mcpServers", alias], undefined);
  const left = (await openSettings(options)).settings.mcpServers[alias];
  if (left !== undefined)
    throw new UsageError(`${alias} is defined in another settings file, not in ${file}.`);
  output.note(`burin: removed ${alias} from ${file}.`);
  return EXIT.done;
}

/** A server that takes longer than this to start is not waited for. */
const MAX_START_MS = 10_000;

async function list({ words, options }: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  if (words[0] !== undefined) throw new UsageError(`burin mcp list takes no "${words[0]}".`);
  const { settings, notices } = await openSettings(options);
  noteNotices(notices, output);
  const servers = Object.entries(settings.mcpServers);
  if (servers.length === 0 && options.outputFormat === "text") output.note(NO_SERVERS);
  const aliases = servers.map(([alias]) => alias);
  const states = await probeServers(aliases, { root: options.root, settings }, signal);
  const found = servers.map(([alias, server], index) => ({ alias, server, state: states[index] }));
  // A server's error message may contain secrets that it was given.
  const shown = await redactSecrets(found, { environment: process.env, servers: settings.mcpServers });
  const document = shown.map(({ alias, server: { type, command, args, url, trust }, state }) => ({
    ...{ alias, type, command, args, url, trust },
    ...state,
  }));
  const rows = shown.map(({ alias, server, state }) => {
    const connected = `connected, ${formatCount(state?.tools ?? 0, "tool")}`;
    const trusted = server.trust ? "  (trusted)" : "";
    return `${alias}  ${formatReach(server)}${trusted}  ${state?.error ?? connected}`;
  });
  printFindings(output, options.outputFormat, { document, rows });
  return EXIT.done;
}

interface McpLocation {
  readonly root: string;
  readonly settings: Settings;
}

/** Checks whether servers can be reached now. Programs are started for this and stopped again. */
export function probeServers(aliases: readonly string[], place: McpLocation, signal: AbortSignal) {
  return withMcpDoor(place, (door) => Promise.all(aliases.map((alias) => probeServer(door, alias, signal))));
}

async function probeServer(door: McpDoor, alias: string, signal: AbortSignal) {
  const time = AbortSignal.timeout(MAX_START_MS);
  try {
    const { tools } = await door.test(alias, AbortSignal.any([signal, time]));
    return { connected: true, tools: tools.length, error: undefined };
  } catch (error) {
    signal.throwIfAborted();
    const limit = `not connected after ${MAX_START_MS / 1000} s`;
    return {
      connected: false,
      tools: undefined,
      error: time.aborted ? limit : describeError(error).replace(/\s+/g, " "),
    };
  }
}

function formatReach({ type, command = "", args, url = "" }: Server): string {
  return type === "stdio" ? [command, ...args].join(" ") : `${url} (${type})`;
}

async function test({ words, options }: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  const { settings, notices } = await openSettings(options);
  noteNotices(notices, output);
  const aliases = words.length > 0 ? words : Object.keys(settings.mcpServers);
  if (aliases.length === 0) output.note(NO_SERVERS);
  let code: ExitCode = EXIT.done;
  for (const alias of aliases) {
    const one = await testServer({ alias, settings, options }, { output, signal });
    if (one !== EXIT.done) code = one;
  }
  return code;
}

async function testServer(server: NamedServer, { output, signal }: Io): Promise<ExitCode> {
  return runAndReport(output, () =>
    useServer(server, async (door) =>
      printOffer(server.alias, await door.test(server.alias, signal), output),
    ),
  );
}

type Offer = Awaited<ReturnType<McpDoor["test"]>>;

function printOffer(alias: string, { tools, prompts, resources, faults }: Offer, output: Output): void {
  const offered = [
    formatCount(tools.length, "tool"),
    formatCount(prompts, "prompt"),
    formatCount(resources, "resource"),
  ];
  output.out(joinLines(`${alias}: ${offered.join(", ")}`, ...tools.map((name) => `  ${name}`)));
  for (const fault of faults) output.note(`burin: ${visible(fault)}`);
}

async function login({ words, options }: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  const alias = requireOneWord(words, "login");
  const { settings } = await openSettings(options);
  const loginToServer = async (door: McpDoor): Promise<void> => {
    const final = readFinalUrl(() =>
      output.note("burin: that is not the final URL of this login. Paste all of it."),
    );
    const openLoginAddress = (url: URL, secretGoesTo?: string) => {
      final.expect(url.searchParams.get("state"));
      if (secretGoesTo !== undefined)
        output.note(
          `burin: the client secret in your settings will be sent to ${visible(secretGoesTo)}. Stop if you do not know that login service.`,
        );
      output.out(`${visible(url.href)}\n`);
      output.note(
        "burin: open this URL in a browser, on any machine. If the last page does not load there, paste the final URL from the browser's address bar here.",
      );
    };
    try {
      const how = await door.login(alias, { onAddress: openLoginAddress, pasted: final.text }, signal);
      const said =
        how === "logged_in" ? `you are logged in to ${alias}` : `${alias} does not require a login`;
      output.note(`burin: ${said}.`);
    } finally {
      final.close();
    }
  };
  return runAndReport(output, () => useServer({ alias, settings, options }, loginToServer));
}

/** Waits for the user to paste the final URL of a login. Without input, the promise never resolves. */
function readFinalUrl(onOther: () => void) {
  const lines = openStdinLines();
  let state: string | null = null;
  const text = new Promise<string>((resolve) => {
    lines.on("line", (line) => {
      const given = line.trim();
      const isFinal = URL.canParse(given) && new URL(given).searchParams.get("state") === state;
      if (isFinal && state !== null) resolve(given);
      else if (given !== "") onOther();
    });
  });
  const expectState = (one: string | null) => {
    state = one;
  };
  const closeStdin = () => {
    lines.close();
    process.stdin.destroy();
  };
  return { text, expect: expectState, close: closeStdin };
}

interface NamedServer {
  readonly alias: string;
  readonly settings: Settings;
  readonly options: CommonOptions;
}

/** Connects only the named server for the duration of `work`. Throws UsageError if there is no such server. */
async function useServer(
  { alias, settings, options: { root } }: NamedServer,
  work: (door: McpDoor) => Promise<void>,
): Promise<void> {
  const server = findServer(settings, alias);
  await withMcpDoor({ root, settings: { ...settings, mcpServers: { [alias]: server } } }, work);
}

/** Runs `work`, and prints its error if it fails. */
async function runAndReport(output: Output, work: () => Promise<void>): Promise<ExitCode> {
  try {
    await work();
    return EXIT.done;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    output.note(formatNote(describeError(error)));
    return EXIT.failed;
  }
}

async function withMcpDoor<T>(place: McpLocation, work: (door: McpDoor) => Promise<T>): Promise<T> {
  const toolbox = createToolbox(place);
  try {
    return await work(toolbox.mcp);
  } finally {
    await toolbox.close();
  }
}

function resolveScope(
  subcommandOptions: SubcommandOptions,
  { root }: CommonOptions,
): { readonly file: string; readonly isProject: boolean } {
  const scope = readText(subcommandOptions.scope) ?? "user";
  if (scope === "user")
    return { file: join(resolveBurinHome(process.env), "settings.json"), isProject: false };
  if (scope === "project") return { file: join(root, ".burin", "settings.json"), isProject: true };
  throw new UsageError(`--scope must be user or project, not "${scope}".`);
}

function requireOneWord(words: readonly string[], form: string): string {
  const [alias, tooMuch] = words;
  if (alias === undefined) throw new UsageError(`give the alias of a server: burin mcp ${form} <alias>`);
  if (tooMuch !== undefined)
    throw new UsageError(`burin mcp ${form} takes one alias, but "${tooMuch}" was given, too.`);
  return alias;
}

function findServer({ mcpServers }: Settings, alias: string): Server {
  const server = mcpServers[alias];
  if (server !== undefined) return server;
  const known = Object.keys(mcpServers).join(", ");
  throw new UsageError(
    `there is no MCP server "${alias}"; ${known === "" ? "settings contain none" : `settings contain: ${known}`}.`,
  );
}
