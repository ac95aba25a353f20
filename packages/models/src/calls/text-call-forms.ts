import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { endOfJson } from "./call-arguments.ts";

export interface WrittenCall {
  readonly name: string;
  readonly args: JsonRecord;
}

/** What is at the start of a text: calls, something else (undefined), or perhaps calls when more has come. */
export type WrittenCalls =
  | { readonly calls: readonly WrittenCall[]; readonly length: number }
  | "unfinished"
  | undefined;

type Read = (text: string, isWhole: boolean) => WrittenCalls;

const FORMS: readonly { readonly marker: string; readonly read: Read }[] = [
  { marker: "<tool_call>", read: readTagged },
  { marker: "<function=", read: readFunctionTag },
  { marker: "[TOOL_CALLS]", read: readBracketed },
];

export const MARKERS: readonly string[] = FORMS.map(({ marker }) => marker);

/** Reads the calls at the start of a text. `isWhole`: nothing more will come, so a missing closing tag is accepted. */
export function readWrittenCalls(text: string, isWhole: boolean): WrittenCalls {
  if (!isWhole && MARKERS.some((marker) => marker.startsWith(text))) return "unfinished";
  const form = FORMS.find(({ marker }) => text.startsWith(marker));
  return form ? form.read(text, isWhole) : readBareJson(text);
}

function readTagged(text: string, isWhole: boolean): WrittenCalls {
  const start = "<tool_call>".length;
  const closing = "</tool_call>";
  // The closing tag may also occur inside an argument.
  for (let end = text.indexOf(closing, start); end !== -1; end = text.indexOf(closing, end + 1)) {
    const calls = callsInTag(text.slice(start, end));
    if (calls) return { calls, length: end + closing.length };
  }
  const calls = isWhole ? callsInTag(text.slice(start)) : undefined;
  if (calls) return { calls, length: text.length };
  return isWhole ? undefined : "unfinished";
}

function callsInTag(body: string): WrittenCall[] | undefined {
  const text = body.trim();
  if (text.startsWith("<function=")) {
    const read = readFunctionTag(text, false);
    return typeof read === "object" && read.length === text.length ? [...read.calls] : undefined;
  }
  const calls: WrittenCall[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = endOfJson(rest);
    const call = end === undefined ? undefined : callIn(parseJson(rest.slice(0, end)), false);
    if (end === undefined || !call) return undefined;
    calls.push(call);
    rest = rest.slice(end).trim();
  }
  return calls.length > 0 ? calls : undefined;
}

function readFunctionTag(text: string, isWhole: boolean): WrittenCalls {
  const head = /^<function=([^>\s<]{1,200})>/.exec(text);
  if (!head) return /^<function=[^>\s<]{0,200}$/.test(text) && !isWhole ? "unfinished" : undefined;
  const [opening, name = ""] = head;
  const closing = "</function>";
  const body = text.slice(opening.length);
  const json = /^\s*\{/.test(body) ? readJsonBody(body) : undefined;
  const { args, length } = json ?? readParameters(body);
  const rest = body.slice(length);
  const space = rest.length - rest.trimStart().length;
  const end = opening.length + length + space;
  if (rest.startsWith(closing, space)) return { calls: [{ name, args }], length: end + closing.length };
  if (!isWhole) return "unfinished";
  return rest.trim() === "" && length > 0 ? { calls: [{ name, args }], length: text.length } : undefined;
}

interface ReadBody {
  readonly args: JsonRecord;
  readonly length: number;
}

function readJsonBody(body: string): ReadBody | undefined {
  const end = endOfJson(body);
  const args = end === undefined ? undefined : parseJson(body.slice(0, end));
  return end !== undefined && isRecord(args) ? { args, length: end } : undefined;
}

/** A value ends at the closing tag that is followed by another parameter or the end. */
const PARAMETER =
  /\s*<parameter=([^>\s]{1,200})>([\s\S]*?)<\/parameter>(?=\s*(?:<parameter=|<\/function>|$))/y;

function readParameters(body: string): ReadBody {
  const args: [string, string][] = [];
  let length = 0;
  for (;;) {
    PARAMETER.lastIndex = length;
    const found = PARAMETER.exec(body);
    if (!found) return { args: Object.fromEntries(args), length };
    const [, key = "", value = ""] = found;
    args.push([key, value.replace(/^\r?\n/, "").replace(/\r?\n$/, "")]);
    length = PARAMETER.lastIndex;
  }
}

/** A marker is not a list, even if the arguments after it have not come yet. */
const BRACKETED_HEAD =
  /^\s*(?:([A-Za-z0-9_.-]{1,200})(?:\[CALL_ID\][A-Za-z0-9]*)?(?:\[ARGS\])?)?\s*(?=\{|\[(?!ARGS\]|CALL_ID\]))/;

/** `[TOOL_CALLS]` followed by a list of calls, or by `name{...}` or `name[ARGS]{...}`. */
function readBracketed(text: string, isWhole: boolean): WrittenCalls {
  const start = "[TOOL_CALLS]".length;
  const head = BRACKETED_HEAD.exec(text.slice(start));
  const later = isWhole ? undefined : "unfinished";
  if (!head) return text.length - start < 300 ? later : undefined;
  const [prefix, name] = head;
  const body = text.slice(start + prefix.length);
  const end = endOfJson(body);
  if (end === undefined) return later;
  const value = parseJson(body.slice(0, end));
  const length = start + prefix.length + end;
  if (name !== undefined) return isRecord(value) ? { calls: [{ name, args: value }], length } : undefined;
  const calls = callsIn(value, false);
  return calls && { calls, length };
}

const CALL_KEYS = "name tool tool_name function arguments parameters args input type id".split(" ");

/** An answer may be JSON too, so only an object with nothing but the parts of a call counts as one. */
function readBareJson(text: string): WrittenCalls {
  const head = /^\[?\s*\{?\s*(?:"([^"]*)("?))?/.exec(text);
  const [whole = "", key, quote] = head ?? [];
  const isOpen = whole.length === text.length && !quote;
  const isCall =
    key !== undefined && CALL_KEYS.some((known) => (isOpen ? known.startsWith(key) : known === key));
  if (!(isCall || (isOpen && key === undefined))) return undefined;
  const end = endOfJson(text);
  if (end === undefined) return "unfinished";
  const calls = callsIn(parseJson(text.slice(0, end)), true);
  return calls && { calls, length: end };
}

function callsIn(value: unknown, isStrict: boolean): WrittenCall[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  const calls = list.map((item) => callIn(item, isStrict));
  return list.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

function callIn(value: unknown, isStrict: boolean): WrittenCall | undefined {
  if (!isRecord(value)) return undefined;
  if (isStrict && Object.keys(value).some((key) => !CALL_KEYS.includes(key))) return undefined;
  if (isRecord(value.function)) return callIn(value.function, isStrict);
  const name = [value.name, value.tool, value.tool_name, value.function].find(
    (part) => typeof part === "string",
  );
  const given = [value.arguments, value.parameters, value.args, value.input].find(
    (part) => part !== undefined,
  );
  const args = typeof given === "string" ? parseJson(given) : given;
  if (typeof name !== "string" || name === "") return undefined;
  if (isRecord(args)) return { name, args };
  return given === undefined && !isStrict ? { name, args: {} } : undefined;
}
