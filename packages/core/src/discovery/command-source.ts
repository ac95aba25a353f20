import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { FunctionDeclaration, ObjectSchema } from "@burin/contract/messages/message";
import { isRecord, nestsDeeper, parseOutsideJson } from "@burin/contract/messages/untrusted-json";
import type { Settings } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { splitShellWords } from "@burin/contract/text/shell-words";
import type { Tool, ToolSource } from "@burin/contract/tools";
import { jsonFault } from "../settings/json-fault.ts";
import { MOST_NESTING, parametersFault, shapeOf } from "../text/parameters-fault.ts";
import { DiscoveredTool, faultOf, lastWordsOf, type RunToolCommand } from "./discovered-tool.ts";

export interface CommandSourceNeeds {
  readonly settings: Settings["tools"];
  readonly root: string;
  readonly run: RunToolCommand;
  /** Called for entries that are left out. */
  readonly report: (problem: string) => void;
  /** Prefixes of names that belong to others, e.g. the alias of an MCP server. */
  readonly reservedPrefixes: readonly string[];
}

const MOST_PROBLEMS = 10;

/** Tools that a command in the settings declares. */
export class CommandSource implements ToolSource {
  readonly name = "discovery command";
  readonly patience = 2000;
  readonly #needs: CommandSourceNeeds;
  #files = "";

  constructor(needs: CommandSourceNeeds) {
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
    this.#files = await this.#filesNow();
    const end = await run({ command, input: "", seconds, signal });
    const fault = faultOf(end, seconds);
    if (fault !== null) {
      const said = lastWordsOf(end);
      throw new Error(`${command} ${fault}${said === "" ? "" : `: ${said}`}`);
    }
    const { declarations, problems } = await declaredIn(end.stdout.toString("utf8"), command);
    const free: typeof declarations = [];
    for (const one of declarations) {
      const prefix = reservedPrefixes.find((start) => one.name.startsWith(start));
      if (prefix === undefined) free.push(one);
      else problems.push(`"${one.name}" was left out: names with ${prefix} belong to that MCP server`);
    }
    for (const problem of problems.slice(0, MOST_PROBLEMS)) report(problem);
    const more = problems.length - MOST_PROBLEMS;
    if (more > 0) report(`${more} more entries were left out`);
    return free.map((one) => new DiscoveredTool(one, { callCommand, callSeconds, run }));
  }

  async isStale(): Promise<boolean> {
    return this.#files !== (await this.#filesNow());
  }

  /** The state of the files in the command: when one changes, the tools may have changed too. */
  async #filesNow(): Promise<string> {
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

async function declaredIn(text: string, command: string) {
  const json = text.replace(/^\uFEFF/, "");
  let what = "is not JSON";
  try {
    const value = parseOutsideJson(json);
    what = "cannot be used";
    return readDeclarations(value);
  } catch (error) {
    const where = what === "is not JSON" ? await jsonFault(json) : null;
    throw new Error(`What ${command} printed ${what}: ${where ?? messageOf(error)}`);
  }
}

/** More than a user can need; the rest is left out. */
const MOST_TOOLS = 2000;
const MOST_DESCRIPTION = 8000;
const LEGAL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** The keys that tools like these use for the schema of the parameters. */
const SCHEMA_KEYS = ["parameters", "parametersJsonSchema", "parameterSchema", "inputSchema", "input_schema"];

/**
 * Reads an array of declarations, or an object (or an array of objects) that contains such arrays. An entry that
 * cannot be used is left out, and a problem says why; the others stay. Throws when the value is neither.
 */
function readDeclarations(value: unknown) {
  const entries = Array.isArray(value) ? value.flatMap((entry) => heldBy(entry) ?? [entry]) : heldBy(value);
  if (entries === null) {
    throw new Error(
      `it must be a JSON array of function declarations, or an object with functionDeclarations, but is ${shapeOf(value)}`,
    );
  }
  const declarations: FunctionDeclaration[] = [];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    if (declarations.length >= MOST_TOOLS) {
      problems.push(`more than ${MOST_TOOLS} tools; the rest was left out`);
      break;
    }
    const found = declarationIn(entry, index + 1);
    if (typeof found === "string") problems.push(found);
    else if (names.has(found.name)) problems.push(`"${found.name}" is declared twice; the first one counts`);
    else {
      names.add(found.name);
      declarations.push(found);
    }
  }
  return { declarations, problems };
}

/** The declarations inside an object; null when it has none. */
function heldBy(entry: unknown): unknown[] | null {
  if (!isRecord(entry)) return null;
  const { functionDeclarations, function_declarations, tools } = entry;
  const held = [functionDeclarations, function_declarations, tools].filter(Array.isArray);
  return held.length === 0 ? null : held.flat();
}

/** Returns the declaration, or what is wrong with it. */
function declarationIn(entry: unknown, position: number): FunctionDeclaration | string {
  if (!isRecord(entry)) return `entry ${position} is ${shapeOf(entry)}, not an object; it was left out`;
  // Chat completions puts the declaration one level down.
  if (entry.type === "function" && isRecord(entry.function)) return declarationIn(entry.function, position);
  const { name, description = "" } = entry;
  if (typeof name !== "string" || name === "") return `entry ${position} has no name; it was left out`;
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
  if (!LEGAL_NAME.test(name)) {
    const rule = 'a letter or "_", then at most 63 letters, digits, "_" or "-"';
    return `entry ${position}, ${shown}, has a name that model services do not accept (${rule}); it was left out`;
  }
  if (typeof description !== "string") return `${shown}: its description is not a string; it was left out`;
  const given = SCHEMA_KEYS.map((key) => entry[key]).find((schema) => (schema ?? null) !== null);
  const schema = parametersIn(given ?? {});
  if (typeof schema === "string") return `${shown}: ${schema}; it was left out`;
  const isLong = description.length > MOST_DESCRIPTION;
  const told = isLong ? `${description.slice(0, MOST_DESCRIPTION)} [the rest was left out]` : description;
  return { name, description: told, parameters: schema };
}

/** Returns a schema for an object of parameters, or what is wrong with it. */
function parametersIn(given: unknown): ObjectSchema | string {
  const plain = nestsDeeper(given, MOST_NESTING) ? given : withPlainTypes(given);
  const fault = parametersFault(plain);
  return fault ?? ({ properties: {}, ...(plain as object), type: "object" } as ObjectSchema);
}

/** Some services write the types of a schema in capitals. */
function withPlainTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainTypes);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    const isType = key === "type" && typeof one === "string";
    return [key, isType ? one.toLowerCase() : withPlainTypes(one)];
  });
  return Object.fromEntries(entries);
}
