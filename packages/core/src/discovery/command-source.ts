import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { FunctionDeclaration, ObjectSchema } from "@burin/contract/messages/message";
import { isRecord, isTooDeep, parseUntrustedJson } from "@burin/contract/messages/untrusted-json";
import type { Settings } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { splitShellWords } from "@burin/contract/text/shell-words";
import type { Tool, ToolSource } from "@burin/contract/tools";
import { findJsonFault } from "../settings/json-fault.ts";
import { describeShape, findParametersFault, MAX_NESTING } from "../text/parameters-fault.ts";
import { DiscoveredTool, describeFault, type RunToolCommand, readLastOutput } from "./discovered-tool.ts";

export interface CommandSourceOptions {
  readonly settings: Settings["tools"];
  readonly root: string;
  readonly run: RunToolCommand;
  /** Called for each entry that is left out. */
  readonly report: (problem: string) => void;
  /** Prefixes of tool names that belong to other sources, for example the alias of an MCP server. */
  readonly reservedPrefixes: readonly string[];
}

const MAX_PROBLEMS = 10;

/** A source for the tools that a command in the settings declares. */
export class CommandSource implements ToolSource {
  readonly name = "discovery command";
  readonly patience = 2000;
  readonly #needs: CommandSourceOptions;
  #files = "";

  constructor(needs: CommandSourceOptions) {
    this.#needs = needs;
  }

  async discover(signal: AbortSignal): Promise<readonly Tool[]> {
    const { settings, run, reservedPrefixes, report } = this.#needs;
    const { toolDiscoveryCommand: command = "", toolDiscoverySeconds: seconds } = settings;
    const { toolCallCommand: callCommand, toolCallSeconds: callSeconds } = settings;
    if (callCommand === undefined) {
      throw new Error(
        "tools.toolDiscoveryCommand is set, but tools.toolCallCommand, which runs the tools, is not",
      );
    }
    this.#files = await this.#readFileStates();
    const end = await run({ command, input: "", seconds, signal });
    const fault = describeFault(end, seconds);
    if (fault !== null) {
      const said = readLastOutput(end);
      throw new Error(`${command} ${fault}${said === "" ? "" : `: ${said}`}`);
    }
    const { declarations, problems } = await parseDeclarations(end.stdout.toString("utf8"), command);
    const free: typeof declarations = [];
    for (const one of declarations) {
      const prefix = reservedPrefixes.find((start) => one.name.startsWith(start));
      if (prefix === undefined) free.push(one);
      else problems.push(`"${one.name}" was left out: names with ${prefix} belong to that MCP server`);
    }
    for (const problem of problems.slice(0, MAX_PROBLEMS)) report(problem);
    const more = problems.length - MAX_PROBLEMS;
    if (more > 0) report(`${more} more entries were left out`);
    return free.map((one) => new DiscoveredTool(one, { callCommand, callSeconds, run }));
  }

  async hasInputChanged(): Promise<boolean> {
    return this.#files !== (await this.#readFileStates());
  }

  /** Returns the state of the files named in the command. If one changes, the tools may have changed too. */
  async #readFileStates(): Promise<string> {
    const { toolDiscoveryCommand: command = "" } = this.#needs.settings;
    const words = splitShellWords(command) ?? command.split(/\s+/);
    const states = await Promise.all(
      words.map(async (word) => {
        const found = await stat(resolve(this.#needs.root, word)).catch(() => null);
        return found?.isFile() ? `${word} ${found.mtimeMs} ${found.size} ${found.ino}` : "";
      }),
    );
    return states.join("\n");
  }
}

async function parseDeclarations(text: string, command: string) {
  const json = text.replace(/^\uFEFF/, "");
  let what = "is not JSON";
  try {
    const value = parseUntrustedJson(json);
    what = "cannot be used";
    return readDeclarations(value);
  } catch (error) {
    const where = what === "is not JSON" ? await findJsonFault(json) : null;
    throw new Error(`What ${command} printed ${what}: ${where ?? describeError(error)}`);
  }
}

/** The maximum number of tools that are read. A user cannot need more; the rest is left out. */
const MAX_TOOLS = 2000;
const MAX_DESCRIPTION = 8000;
const LEGAL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** The keys under which such declarations may contain the schema of the parameters. */
const SCHEMA_KEYS = ["parameters", "parametersJsonSchema", "parameterSchema", "inputSchema", "input_schema"];

/**
 * Reads an array of declarations, or an object (or an array of objects) that contains such arrays. An entry that cannot
 * be used is left out, and a problem says why. Throws if the value is neither.
 */
function readDeclarations(value: unknown) {
  const entries = Array.isArray(value)
    ? value.flatMap((entry) => findInnerDeclarations(entry) ?? [entry])
    : findInnerDeclarations(value);
  if (entries === null) {
    throw new Error(
      `it must be a JSON array of function declarations, or an object with functionDeclarations, but is ${describeShape(value)}`,
    );
  }
  const declarations: FunctionDeclaration[] = [];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    if (declarations.length >= MAX_TOOLS) {
      problems.push(`more than ${MAX_TOOLS} tools; the rest was left out`);
      break;
    }
    const found = readDeclaration(entry, index + 1);
    if (typeof found === "string") problems.push(found);
    else if (names.has(found.name)) problems.push(`"${found.name}" is declared twice; the first one counts`);
    else {
      names.add(found.name);
      declarations.push(found);
    }
  }
  return { declarations, problems };
}

/** Returns the declarations inside an object, or null if it contains none. */
function findInnerDeclarations(entry: unknown): unknown[] | null {
  if (!isRecord(entry)) return null;
  const { functionDeclarations, function_declarations, tools } = entry;
  const held = [functionDeclarations, function_declarations, tools].filter(Array.isArray);
  return held.length === 0 ? null : held.flat();
}

/** Returns the declaration, or a message that says what is wrong with it. */
function readDeclaration(entry: unknown, position: number): FunctionDeclaration | string {
  if (!isRecord(entry)) return `entry ${position} is ${describeShape(entry)}, not an object; it was left out`;
  // In the format of chat completions, the declaration is one level deeper.
  if (entry.type === "function" && isRecord(entry.function)) return readDeclaration(entry.function, position);
  const { name, description = "" } = entry;
  if (typeof name !== "string" || name === "") return `entry ${position} has no name; it was left out`;
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
  if (!LEGAL_NAME.test(name)) {
    const rule = 'a letter or "_", then at most 63 letters, digits, "_" or "-"';
    return `entry ${position}, ${shown}, has a name that model services do not accept (${rule}); it was left out`;
  }
  if (typeof description !== "string") return `${shown}: its description is not a string; it was left out`;
  const given = SCHEMA_KEYS.map((key) => entry[key]).find((schema) => (schema ?? null) !== null);
  const schema = readParameters(given ?? {});
  if (typeof schema === "string") return `${shown}: ${schema}; it was left out`;
  const isLong = description.length > MAX_DESCRIPTION;
  const told = isLong ? `${description.slice(0, MAX_DESCRIPTION)} [the rest was left out]` : description;
  return { name, description: told, parameters: schema };
}

/** Returns a schema for an object of parameters, or a message that says what is wrong with it. */
function readParameters(given: unknown): ObjectSchema | string {
  const plain = isTooDeep(given, MAX_NESTING) ? given : normalizeTypes(given);
  const fault = findParametersFault(plain);
  return fault ?? ({ properties: {}, ...(plain as object), type: "object" } as ObjectSchema);
}

/** Converts the types of a schema to lower case, because some services write them in capitals. */
function normalizeTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalizeTypes);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    const isType = key === "type" && typeof one === "string";
    return [key, isType ? one.toLowerCase() : normalizeTypes(one)];
  });
  return Object.fromEntries(entries);
}
