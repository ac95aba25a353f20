import type { Usage } from "@burin/contract/chat-model";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";

export interface ScriptedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One reply of a scripted model: first the thought, then the text, then the calls; or a failure after these. */
export interface ScriptLine {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<Usage>;
  /** Ends the reply as a failure. A `status` makes it an HTTP error where the reply travels over HTTP. */
  readonly error?: { readonly type?: string; readonly message: string; readonly status?: number };
}

/**
 * Reads a script file: JSON Lines, one reply a line, blank lines left out. Throws with the number of the
 * line and what is wrong in it.
 */
export function parseScript(text: string): ScriptLine[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  return lines.flatMap((line, index) => (line.trim() === "" ? [] : [readLine(line, index + 1)]));
}

type Check = (value: unknown) => string | undefined;

const isText: Check = (value) => (typeof value === "string" ? undefined : "must be a string");
const isCount: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? undefined
    : "must be a whole number";
const isObject: Check = (value) => (isRecord(value) ? undefined : "must be an object");

const CHECKS: Readonly<Record<string, Check>> = {
  thought: isText,
  text: isText,
  calls: listOf(shape({ name: isText, args: isObject }, ["name", "args"])),
  usage: shape({ inputTokens: isCount, outputTokens: isCount, cachedTokens: isCount }, []),
  error: shape({ type: isText, message: isText, status: isCount }, ["message"]),
};
const checkLine = shape(CHECKS, []);

function readLine(line: string, number: number): ScriptLine {
  const value = parseJson(line);
  if (value === undefined) throw new Error(`Line ${number} of the script is not JSON${faultOf(line)}.`);
  const problem = checkLine(value) ?? (isScriptLine(value) ? undefined : "must say something: it is empty");
  if (problem === undefined && isScriptLine(value)) return value;
  throw new Error(`Line ${number} of the script ${problem}.`);
}

/** To be asked after `checkLine` only, which has looked at every field. */
function isScriptLine(value: unknown): value is ScriptLine {
  return isRecord(value) && Object.keys(value).length > 0;
}

function faultOf(line: string): string {
  try {
    JSON.parse(line);
    return "";
  } catch (error) {
    return error instanceof Error ? ` (${error.message})` : "";
  }
}

function shape(fields: Readonly<Record<string, Check>>, required: readonly string[]): Check {
  return (value) => {
    if (!isRecord(value)) return "must be an object";
    const missing = required.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return `lacks "${missing}"`;
    for (const [key, field] of Object.entries(value)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (!check) return `has an unknown key "${key}"; known are ${Object.keys(fields).join(", ")}`;
      const problem = check(field);
      if (problem !== undefined) return `is wrong at "${key}": it ${problem}`;
    }
    return undefined;
  };
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return "must be a list";
    for (const [index, item] of value.entries()) {
      const problem = check(item);
      if (problem !== undefined) return `is wrong at entry ${index + 1}: it ${problem}`;
    }
    return undefined;
  };
}
