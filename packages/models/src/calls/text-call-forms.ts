import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { findJsonEnd } from "./call-arguments.ts";
import { parsePythonArguments, repairArguments } from "./repair-arguments.ts";

export interface WrittenCall {
  readonly name: string;
  readonly args: JsonRecord;
}

/** What a text starts with: calls (none for a mark around calls), something else, or too little to tell. */
export type WrittenCalls =
  | { readonly calls: readonly WrittenCall[]; readonly length: number }
  | "unfinished"
  | undefined;

const NAME = "([A-Za-z0-9_.-]{1,200})";
/** DeepSeek writes its bars and underscores with special characters, and its later models add a prefix to the tags. */
const BAR = "[|｜‖]";
const CALL = "tool[_▁]call";
const CALLS = "tool[_▁]calls[_▁](?:section[_▁])?";
const DSML = `(?:${BAR}{1,2}DSML${BAR}{1,2})?`;
/** The marks that models write around their calls, each with an example that a test reads. */
export const MARKS: readonly (readonly [mark: string, example: string])[] = [
  ["minimax:tool_call", "<minimax:tool_call>"],
  ["(?<=/)tool_call", "</tool_call>"],
  ["tool_call(?=>\\s*<invoke )", '<tool_call>\n<invoke name="x">'],
  [`${DSML}(?:function|tool)_calls`, "<｜DSML｜function_calls>"],
  [`${BAR}(?:python_tag|(?:python|tool_call)_(?:start|end)|tool_call|call)${BAR}`, "<|python_tag|>"],
  [`${BAR}(?:${CALLS}(?:begin|end)|${CALL}[_▁]end)${BAR}`, "<｜tool▁calls▁begin｜>"],
];
const MARK = new RegExp(`^</?(?:${MARKS.map(([mark]) => mark).join("|")})>`);
const LONGEST_TAG = 250;

/** Reads the calls at the start of a text. With `isWhole` no more text follows, so a closing tag may be missing. */
export function readWrittenCalls(text: string, isWhole: boolean): WrittenCalls {
  const isPart = text.length < LONGEST_TAG && (/^<[^<>\n]*$/.test(text) || "[TOOL_CALLS]".startsWith(text));
  if (isPart) return isWhole ? undefined : "unfinished";
  const mark = MARK.exec(text)?.[0];
  if (mark !== undefined) return { calls: [], length: mark.length };
  if (text.startsWith("<tool_call>")) return readTaggedCall(text, isWhole);
  if (text.startsWith("<|tool_call>")) return readUnquoted(text) ?? "unfinished";
  if (NAMED_START.test(text)) return readCallsWithName(text, isWhole);
  if (PYTHON_START.test(text)) return readPythonCalls(text);
  return text.startsWith("<") ? readFunctionTag(text, isWhole) : readBareJson(text);
}

/** Matches what may be the beginning of `[name(key="value"), name()]`, as Llama 4 and LFM2 write it. */
const PYTHON_START =
  /^\[\s{0,9}[A-Za-z_][\w.-]{0,100}(?:$|\(\s{0,9}(?:$|\)|[A-Za-z_]\w{0,100}\s{0,9}(?:$|=)))/;
const PYTHON_NAME = new RegExp(`^[[,]\\s*${NAME}(?=\\()`);

function readPythonCalls(text: string): WrittenCalls {
  const calls: WrittenCall[] = [];
  let rest = text;
  while (!rest.startsWith("]")) {
    const [head, name] = PYTHON_NAME.exec(rest) ?? [];
    const read = head === undefined ? undefined : parsePythonArguments(rest.slice(head.length));
    if (head === undefined || name === undefined || !read) return "unfinished";
    calls.push({ name, args: read.args });
    rest = rest.slice(head.length + read.end);
  }
  return { calls, length: text.length - rest.length + 1 };
}

function readTaggedCall(text: string, isWhole: boolean): WrittenCalls {
  const start = "<tool_call>".length;
  const closing = "</tool_call>";
  const json = /^<tool_call>\s*\{/.test(text) ? findJsonEnd(text.slice(start)) : 0;
  if (json === undefined) return "unfinished";
  // Try each closing tag: it may also occur inside an argument.
  for (let end = text.indexOf(closing, start + json); end !== -1; end = text.indexOf(closing, end + 1)) {
    const calls = parseTaggedCalls(text.slice(start, end));
    if (calls) return { calls, length: end + closing.length };
  }
  const calls = isWhole ? parseTaggedCalls(text.slice(start)) : undefined;
  if (calls) return { calls, length: text.length };
  return "unfinished";
}

/** GLM writes the name first, then keys and values. */
const NAME_FIRST = new RegExp(`^${NAME}(?=\\s*(?:<arg_key>|$))`);
const KEY_AND_VALUE =
  /\s*<arg_key>([^<]{1,200})<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>(?=\s*(?:<arg_key>|$))/y;

function parseTaggedCalls(body: string): readonly WrittenCall[] | undefined {
  const text = body.trim();
  if (text.startsWith("<function=")) {
    const read = readFunctionTag(text, false);
    return typeof read === "object" && read.length === text.length ? read.calls : undefined;
  }
  const name = NAME_FIRST.exec(text)?.[0];
  if (name !== undefined) {
    const { args, length } = readParameters(text.slice(name.length), KEY_AND_VALUE);
    return name.length + length === text.length ? [{ name, args }] : undefined;
  }
  const calls: WrittenCall[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.startsWith("{") ? findJsonEnd(rest) : undefined;
    const call = end === undefined ? undefined : parseCall(parseJson(rest.slice(0, end)), false);
    if (end === undefined || !call) return undefined;
    calls.push(call);
    rest = rest.slice(end).trim();
  }
  return calls.length > 0 ? calls : undefined;
}

/** Gemma 4 writes names without quotes, and quotes strings with its own mark. */
const UNQUOTED = /^<\|tool_call>call:([\w.-]{1,200})(\{[\s\S]*?\})<tool_call\|>/;
const QUOTED = /<\|"\|>([\s\S]*?)<\|"\|>/g;

function readUnquoted(text: string): WrittenCalls {
  const [whole = "", name = "", body = ""] = UNQUOTED.exec(text) ?? [];
  const json = body.replace(QUOTED, (_match, said: string) => JSON.stringify(said));
  const args = repairArguments(json, () => true);
  return args && { calls: [{ name, args }], length: whole.length };
}

const TAG_HEAD = new RegExp(`^<${DSML}(?:function=|invoke name=")([^">\\s<]{1,200})"?>`);
const TAG_END = `</${DSML}(?:function|invoke)>`;
const CLOSING_TAG = new RegExp(`^\\s*${TAG_END}`);
/** A value ends at the closing tag that is followed by another parameter or by the end. */
const PARAMETER = new RegExp(
  `\\s*<${DSML}parameter(?:=| name=")([^">\\s]{1,200})"?[^>]{0,100}>([\\s\\S]*?)</${DSML}parameter>(?=\\s*(?:<${DSML}parameter[= ]|${TAG_END}|$))`,
  "y",
);

/** MiniMax M3 uses the parameter's name as the tag. */
const NAMED_TAG = /\s*<([A-Za-z_][\w-]{0,100})>([\s\S]*?)<\/\1>(?=\s*<)/y;

/** Reads `<function=name>` with JSON or parameters, or `<invoke name="name">`. */
function readFunctionTag(text: string, isWhole: boolean): WrittenCalls {
  const [opening, name = ""] = TAG_HEAD.exec(text) ?? [];
  if (opening === undefined) return undefined;
  const body = text.slice(opening.length);
  const jsonEnd = /^\s*\{/.test(body) ? findJsonEnd(body) : undefined;
  const json = parseJson(body.slice(0, jsonEnd ?? 0));
  const { args, length = 0 } = isRecord(json)
    ? { args: json, length: jsonEnd }
    : ([PARAMETER, NAMED_TAG].map((form) => readParameters(body, form)).find(({ length }) => length > 0) ?? {
        args: {},
      });
  const rest = body.slice(length);
  const closing = CLOSING_TAG.exec(rest)?.[0];
  const end = opening.length + length + (closing?.length ?? 0);
  if (closing !== undefined) return { calls: [{ name, args }], length: end };
  if (!isWhole) return "unfinished";
  return rest.trim() === "" && length > 0 ? { calls: [{ name, args }], length: text.length } : undefined;
}

function readParameters(body: string, parameter: RegExp) {
  const args: [string, string][] = [];
  let length = 0;
  for (;;) {
    parameter.lastIndex = length;
    const found = parameter.exec(body);
    if (!found) return { args: Object.fromEntries(args), length };
    const [, key = "", value = ""] = found;
    args.push([key, value.replace(/^\r?\n/, "").replace(/\r?\n$/, "")]);
    length = parameter.lastIndex;
  }
}

const NAMED_START = new RegExp(`^(?:\\[TOOL_CALLS\\]|<${BAR}(?:${CALL}[_▁]begin|start|channel)${BAR}>)\\s*`);
/**
 * Matches up to the arguments of a call: an object, or a JSON list of calls. The `[` of a marker such as `[ARGS]` does not
 * begin a list, even if nothing has arrived after it yet.
 */
const BRACKETED = "(?:\\[CALL_ID\\][A-Za-z0-9]*)?(?:\\[ARGS\\])?)?\\s*(?=\\{|\\[(?!ARGS\\]|CALL_ID\\]))";
/**
 * Matches what separates the name from the arguments: `functions.name:0` (Kimi), or `name` and `function` (DeepSeek).
 */
const SEPARATED = `(?::\\d+)?\\s*(?:<${BAR}(?:tool[_▁]sep|tool_call_argument_begin)${BAR}>|\`\`\`json)\\s*(?=\\{)`;
/**
 * Matches `to=functions.name` of gpt-oss, with its channel before or after it. The number of spaces is limited, because
 * the pattern would try many of them in every way.
 */
const CHANNEL = "\\s{0,9}(?:<\\|channel\\|>)?(?:commentary)?\\s{0,9}";
const ADDRESSED = `(?:assistant)?${CHANNEL}to=(?:functions\\.)?${NAME}${CHANNEL}(?:<\\|constrain\\|>)?json\\s{0,9}<\\|message\\|>(?=\\{)`;
const NAMED_HEAD = new RegExp(
  `^(?:(?:${NAME}${BRACKETED}|(?:function<${BAR}tool[_▁]sep${BAR}>)?(?:functions\\.)?${NAME}${SEPARATED}|${ADDRESSED})`,
);

function readCallsWithName(text: string, isWhole: boolean): WrittenCalls {
  const start = NAMED_START.exec(text)?.[0].length ?? 0;
  const later = isWhole ? undefined : "unfinished";
  const head = NAMED_HEAD.exec(text.slice(start));
  if (!head) return text.length - start < 300 ? later : undefined;
  const [prefix, bracketed, separated, name = separated ?? bracketed] = head;
  const body = text.slice(start + prefix.length);
  const end = findJsonEnd(body);
  if (end === undefined) return later;
  const value = parseJson(body.slice(0, end));
  const fence = prefix.trimEnd().endsWith("```json") ? /^\s*```/.exec(body.slice(end))?.[0] : "";
  if (fence === undefined) return later;
  const length = start + prefix.length + end + fence.length;
  if (name !== undefined) return isRecord(value) ? { calls: [{ name, args: value }], length } : undefined;
  const calls = parseCalls(value, false);
  return calls && { calls, length };
}

const CALL_KEYS = "name tool tool_name function arguments parameters args input type id".split(" ");

/** Reads a call in bare JSON. Answers may be JSON too, so only an object with just the parts of a call counts. */
function readBareJson(text: string): WrittenCalls {
  const [whole = "", key, quote] = /^\[?\s*\{?\s*(?:"([^"]*)("?))?/.exec(text) ?? [];
  const isOpen = whole.length === text.length && !quote;
  const isCall =
    key !== undefined && CALL_KEYS.some((known) => (isOpen ? known.startsWith(key) : known === key));
  if (!(isCall || (isOpen && key === undefined))) return undefined;
  const end = findJsonEnd(text);
  if (end === undefined) return "unfinished";
  const calls = parseCalls(parseJson(text.slice(0, end)), true);
  return calls && { calls, length: end };
}

function parseCalls(value: unknown, isStrict: boolean): WrittenCall[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  const calls = list.map((item) => parseCall(item, isStrict));
  return list.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

function parseCall(value: unknown, isStrict: boolean): WrittenCall | undefined {
  if (!isRecord(value)) return undefined;
  if (isStrict && Object.keys(value).some((key) => !CALL_KEYS.includes(key))) return undefined;
  if (isRecord(value.function)) return parseCall(value.function, isStrict);
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
