import {
  isRecord,
  isTooDeep,
  type JsonRecord,
  parseJson,
  parseUntrustedJson,
} from "@burin/contract/messages/untrusted-json";

interface ArgumentsEnding {
  readonly damaged: boolean;
  /** How the reply ended inside or directly after this call. */
  readonly ending: "complete" | "limit" | "open";
  /** Whether the output limit ended the reply, anywhere in it. */
  readonly limited: boolean;
}

type ReadArguments = { readonly args: JsonRecord; readonly argsError?: string };

/** The arguments of a call, or why they are not valid. Nothing is guessed: what was cut off or damaged is an error. */
export function parseCallArguments(given: string | JsonRecord, fate: ArgumentsEnding): ReadArguments {
  if (fate.damaged) {
    return createFailedArguments(
      "A part of the arguments was lost on the way. Nothing was run. Send the same call again.",
    );
  }
  const read = readArguments(given, fate);
  return isTooDeep(read.args, MAX_LEVELS) ? createFailedArguments(TOO_DEEP) : read;
}

function readArguments(given: string | JsonRecord, fate: ArgumentsEnding): ReadArguments {
  if (typeof given !== "string") return { args: given };
  const text = given.trim();
  if (text === "")
    return fate.ending === "complete" ? { args: {} } : createFailedArguments(describeCut(text, fate));
  const value = parseArguments(text);
  if (isRecord(value)) return { args: value };
  if (value === null) return { args: {} };
  if (value !== undefined) {
    const kind = Array.isArray(value) ? "a list" : `a ${typeof value}`;
    return createFailedArguments(`The arguments must be one JSON object, and ${kind} came. Nothing was run.`);
  }
  const read = createFailedArguments(describeCut(text, fate));
  if (fate.ending === "complete" && !fate.limited) UNREAD.set(read.args, text);
  return read;
}

/** The original text of arguments that are complete but not valid JSON, by the arguments that replace them. */
const UNREAD = new WeakMap<JsonRecord, string>();

export function findUnreadArguments({ args }: { readonly args: JsonRecord }): string | undefined {
  return UNREAD.get(args);
}

/** No tool needs so much nesting, and JSON.stringify would fail at some thousands. */
const MAX_LEVELS = 500;
const TOO_DEEP = `The arguments are objects or lists nested more than ${MAX_LEVELS} levels deep. Nothing was run.`;

function createFailedArguments(argsError: string): ReadArguments {
  return { args: {}, argsError };
}

function describeCut(text: string, fate: ArgumentsEnding): string {
  const length = `after ${text.length} characters of arguments`;
  if (fate.limited) {
    return (
      `The output limit cut this call ${length}. Nothing was run and nothing was changed. Do not send the ` +
      "same call again: do the work in smaller pieces, for example the first part of a file now and the rest " +
      "with further calls."
    );
  }
  if (fate.ending === "open") {
    return `The reply broke off ${length}. Nothing was run. Send the call again, in smaller pieces if it is long.`;
  }
  return `The arguments are not valid JSON${describeJsonFault(text)}. Nothing was run. Send the call again with one JSON object.`;
}

function describeJsonFault(text: string): string {
  try {
    parseUntrustedJson(text);
    return "";
  } catch (error) {
    return error instanceof Error ? ` (${error.message.slice(0, 200)})` : "";
  }
}

/** Parses the JSON value of the text, and allows for four habits of servers whose meaning is certain. */
function parseArguments(text: string): unknown {
  const value = parseJson(text);
  if (typeof value === "string") {
    // Encoded twice.
    const inner = parseJson(value);
    return isRecord(inner) ? inner : value;
  }
  if (value !== undefined) return value;
  const end = findJsonEnd(text);
  if (end === undefined) {
    // A server that began again: what came first is the start of the whole that follows, and does not just hold it.
    const found = [...text.matchAll(/(?<=..)\{/gs)];
    const again = found.find(({ index }) => text.startsWith(text.slice(0, index), index));
    const isHeld = ["}", "]}", "}}"].some((end) => parseJson(text + end) !== undefined);
    return again && !isHeld ? parseJson(text.slice(again.index)) : undefined;
  }
  const first = parseJson(text.slice(0, end));
  const second = parseJson(text.slice(end));
  if (!isRecord(first) || !isRecord(second)) return undefined;
  // An empty object as a placeholder before the real one, or the whole object repeated at the end.
  const placeHolder = Object.keys(first).length === 0;
  return placeHolder || JSON.stringify(first) === JSON.stringify(second) ? second : undefined;
}

/** Returns where the object or list at the start of the text ends, if it does. */
export function findJsonEnd(text: string): number | undefined {
  return new JsonNesting().read(text);
}

/** Follows a JSON text that comes in pieces, each character once. */
export class JsonNesting {
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** Whether the text cannot be whole yet. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#inString;
  }

  /** Reads a piece up to where all that was open has ended; returns that place, if it is in it. */
  read(piece: string, from = 0): number | undefined {
    for (let position = from; position < piece.length; position += 1) {
      const character = piece.charAt(position);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#inString && character === "\\") this.#isEscaped = true;
      else if (character === '"') this.#inString = !this.#inString;
      else if (!this.#inString && this.#closesAll(character)) return position + 1;
    }
    return undefined;
  }

  #closesAll(character: string): boolean {
    if (character === "{" || character === "[") this.#depth += 1;
    if (character !== "}" && character !== "]") return false;
    this.#depth -= 1;
    return this.#depth <= 0;
  }
}
