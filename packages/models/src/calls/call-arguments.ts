import {
  isRecord,
  isTooDeep,
  type JsonRecord,
  parseJson,
  parseUntrustedJson,
} from "@burin/contract/messages/untrusted-json";

interface ArgumentsEnding {
  readonly damaged: boolean;
  /** How the reply ended in this call or directly after it. */
  readonly ending: "complete" | "limit" | "open";
  /** Whether the output limit cut the reply anywhere. */
  readonly limited: boolean;
}

type ReadArguments = { readonly args: JsonRecord; readonly argsError?: string };

/** Parses a call's arguments, or says why they are not valid. Never guesses what was cut off or damaged. */
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

/** Maps replacement arguments to the original text of arguments that are complete but not valid JSON. */
const UNREAD = new WeakMap<JsonRecord, string>();

export function findUnreadArguments({ args }: { readonly args: JsonRecord }): string | undefined {
  return UNREAD.get(args);
}

/** The deepest nesting that is accepted. No tool needs more, and JSON.stringify would fail at some thousands. */
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

/** Parses the JSON value of the text. Allows for four habits of servers whose meaning is unambiguous. */
function parseArguments(text: string): unknown {
  const value = parseJson(text);
  if (typeof value === "string") {
    // The JSON may be encoded twice.
    const inner = parseJson(value);
    return isRecord(inner) ? inner : value;
  }
  if (value !== undefined) return value;
  const end = findJsonEnd(text);
  if (end === undefined) {
    // The server has sent the arguments twice: the text before is the beginning of the complete object that follows. It
    // must not be one that merely contains that object.
    const found = [...text.matchAll(/(?<=..)\{/gs)];
    const again = found.find(({ index }) => text.startsWith(text.slice(0, index), index));
    const isHeld = ["}", "]}", "}}"].some((end) => parseJson(text + end) !== undefined);
    return again && !isHeld ? parseJson(text.slice(again.index)) : undefined;
  }
  const first = parseJson(text.slice(0, end));
  const second = parseJson(text.slice(end));
  if (!isRecord(first) || !isRecord(second)) return undefined;
  // The first object may be an empty placeholder for the second, or the second may repeat the first.
  const placeHolder = Object.keys(first).length === 0;
  return placeHolder || JSON.stringify(first) === JSON.stringify(second) ? second : undefined;
}

/** Returns where the object or list at the start of the text ends; undefined if it does not end. */
export function findJsonEnd(text: string): number | undefined {
  return new JsonNesting().read(text);
}

/** Tracks the nesting of a JSON text that arrives in pieces, reading each character once. */
export class JsonNesting {
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** Whether the text is certainly incomplete. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#inString;
  }

  /** Reads a piece up to where everything that was open is closed. Returns that position if it is in this piece. */
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
