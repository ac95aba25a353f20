import type { FunctionCall } from "@burin/contract/messages/message";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { JsonNesting, parseCallArguments } from "./call-arguments.ts";

export interface ReplyEnd {
  /** `limit`: the output limit cut the reply. `open`: the reply stopped with no sign that it was complete. */
  readonly ending: "complete" | "limit" | "open";
  /** How a reply ended directly after a call without arguments. */
  readonly bareEnding?: ReplyEnd["ending"];
  readonly takenIds: ReadonlySet<string>;
}

/** A call, with the signature that its provider wants back. */
export interface SignedCall {
  readonly call: FunctionCall;
  readonly signature?: string | undefined;
}

/** The characters that each call counts for, in addition to its arguments. */
const CHARACTERS_OF_CALL = 500;

type Fragment = ReturnType<typeof readCallFragment>;

class PartialCall {
  index: number | string | undefined;
  id = "";
  name = "";
  text = "";
  /** Arguments that arrived as an object instead of text. */
  object: JsonRecord | undefined;
  /** A piece of the stream was lost while this call was unfinished. */
  damaged = false;
  signature: string | undefined;
  namedInChunk = 0;
  readonly #nesting = new JsonNesting();
  #json: string | undefined;

  addText(piece: string): void {
    this.text += piece;
    this.#json = undefined;
    for (let from = 0; from < piece.length; ) from = this.#nesting.read(piece, from) ?? piece.length;
  }

  get hasWholeArguments(): boolean {
    return this.object !== undefined || this.json !== "";
  }

  /** The arguments as compact JSON. Needed for every piece, so it is cached, and open text is not parsed. */
  get json(): string {
    this.#json ??= this.#nesting.isOpen ? "" : normalizeJson(this.text);
    return this.#json;
  }
}

/**
 * Assembles calls from fragments. Servers differ in how a fragment names its call: by index, by id, by both or by
 * neither. Each of these counts only for what it proves.
 */
export class ToolCallAssembly {
  readonly #calls: PartialCall[] = [];
  readonly #hosted = new Set<unknown>();
  #last: PartialCall | undefined;
  #chunk = 0;
  /** The characters in all arguments together, so that they can be limited. */
  characters = 0;

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Adds the `tool_calls` of a chunk, whatever their form. `signatureOf` returns what is sent back with a call. */
  add(toolCalls: unknown, signatureOf: (item: JsonRecord) => string | undefined = () => undefined): void {
    this.#chunk += 1;
    const list = Array.isArray(toolCalls) ? toolCalls : [toolCalls];
    // If nothing else distinguishes the pieces in a list, their order does.
    const inStep = list.length > 1 ? this.#calls.slice(-list.length) : [];
    for (const [place, item] of list.entries()) {
      if (!isRecord(item) || this.#isHostedTool(item)) continue;
      this.#addFragment(readCallFragment(item, signatureOf(item)), inStep[place]);
    }
  }

  /** Called for an unreadable chunk. It may have held a part of any unfinished call, so none of these may run. */
  noteLostChunk(): void {
    for (const call of this.#calls) call.damaged ||= !call.hasWholeArguments;
  }

  /** Whether the service runs this tool itself: some services list those too, and they are not calls for us. */
  #isHostedTool({ type, index, function: called }: JsonRecord): boolean {
    const isOther = typeof type === "string" && type !== "" && type !== "function" && !isRecord(called);
    if (isOther) this.#hosted.add(index);
    return isOther || (index !== undefined && this.#hosted.has(index) && !isRecord(called));
  }

  /** Returns the calls in the order in which they began, each with a unique id. */
  buildCalls(end: ReplyEnd): SignedCall[] {
    const used = new Set(end.takenIds);
    const all = this.#calls.filter((call) => call.name !== "" || call.id !== "" || hasArguments(call));
    const calls = all.filter(
      (call, at) => !all.some((other, place) => isRepeatedCall(call, other, at > place)),
    );
    return calls.flatMap((call) => {
      const { bareEnding = end.ending } = end;
      const isBare = !hasArguments(call);
      const ending = isBare ? bareEnding : end.ending;
      // Pieces of text take precedence over the object that came first, unless they are empty.
      const hasPieces = !/^\s*(?:\{\s*\}\s*)?$/.test(call.text);
      const read = parseCallArguments(hasPieces ? call.text : (call.object ?? call.text), {
        damaged: call.damaged,
        // Services that begin several calls at once send the arguments later.
        ending: call === this.#last || (isBare && bareEnding === "open") ? ending : "complete",
        limited: end.ending === "limit",
      });
      // Kimi's ids contain the name: functions.read_file:0.
      const name = call.name || (/^functions\.([\w.-]+):\d+$/.exec(call.id)?.[1] ?? "");
      return unwrapParallelCalls({ name, ...read }).map((one, place) => {
        const id = place === 0 && call.id !== "" && !used.has(call.id) ? call.id : createCallId(used);
        used.add(id);
        return { call: { id, ...one }, signature: place === 0 ? call.signature : undefined };
      });
    });
  }

  #addFragment(fragment: Fragment, inStep?: PartialCall): void {
    const isNamed = fragment.index !== undefined || fragment.id !== "" || fragment.name !== "";
    let call = isNamed ? this.#findOwner(fragment) : (inStep ?? this.#findOwner(fragment));
    if (!call) {
      call = new PartialCall();
      this.#calls.push(call);
      this.characters += CHARACTERS_OF_CALL;
    }
    this.#last = call;
    call.index ??= fragment.index;
    call.id ||= fragment.id;
    call.name = mergeName(call.name, fragment.name);
    call.signature = fragment.signature ?? call.signature;
    if (fragment.name !== "") call.namedInChunk = this.#chunk;
    const { arguments: given } = fragment;
    if (typeof given === "string") call.addText(given);
    else call.object = given;
    this.characters += typeof given === "string" ? given.length : JSON.stringify(given).length;
  }

  #findOwner(fragment: Fragment): PartialCall | undefined {
    const sameIndex =
      fragment.index === undefined
        ? undefined
        : this.#calls.findLast((call) => call.index === fragment.index);
    if (fragment.id !== "") {
      const isSameId = (call: PartialCall) => call.id === fragment.id;
      // Two calls may have the same id by mistake; a different index tells them apart.
      const owner =
        fragment.index === undefined
          ? this.#calls.findLast(isSameId)
          : this.#calls.find((call) => isSameId(call) && this.#isSameIndex(call, fragment));
      if (owner) return this.#repeatsIdForAnother(owner, fragment) ? undefined : owner;
    }
    const candidate = sameIndex ?? this.#lastWithoutOtherIndex(fragment);
    return candidate && !this.#beginsAnother(candidate, fragment) ? candidate : undefined;
  }

  #isSameIndex(call: PartialCall, fragment: Fragment): boolean {
    return call.index === undefined || call.index === fragment.index;
  }

  #lastWithoutOtherIndex(fragment: Fragment): PartialCall | undefined {
    const last = this.#last;
    if (!last || fragment.index === undefined || this.#isSameIndex(last, fragment)) return last;
    // Some servers put the number of the piece where the call's index belongs.
    const isMore = fragment.id === "" && fragment.name === "" && !last.hasWholeArguments;
    return isMore ? last : undefined;
  }

  /** Whether the server gave one id to two calls: one list has both, or both are complete and differ. */
  #repeatsIdForAnother(call: PartialCall, fragment: Fragment): boolean {
    if (fragment.name === "") return false;
    if (call.namedInChunk === this.#chunk) return true;
    const given = fragment.arguments;
    if (typeof given !== "string") return call.hasWholeArguments;
    const json = normalizeJson(given);
    return call.hasWholeArguments && json !== "" && (fragment.name !== call.name || json !== call.json);
  }

  #beginsAnother(call: PartialCall, fragment: Fragment): boolean {
    const otherId = fragment.id !== "" && call.id !== "" && fragment.id !== call.id;
    if (fragment.name !== "" && call.name !== "") {
      if (otherId || call.namedInChunk === this.#chunk) return true;
      if (fragment.name === call.name) return call.hasWholeArguments;
      // A name may also arrive in pieces, if the index says that it is the same call.
      return hasArguments(call) || fragment.index === undefined || fragment.index !== call.index;
    }
    // Some servers create a new id for every fragment. A new id alone begins a call only if no index says otherwise.
    return otherId && fragment.index === undefined && (call.hasWholeArguments || fragment.arguments === "");
  }
}

/** Splits a call that contains several. OpenAI's models know a tool for that, even if it is not offered. */
function unwrapParallelCalls<Call extends Pick<FunctionCall, "name" | "args">>(call: Call) {
  const { tool_uses: uses } = call.args;
  if (!/^(?:multi_tool_use[._])?parallel$/.test(call.name) || !Array.isArray(uses)) return [call];
  const calls = uses.filter(isRecord).flatMap(({ recipient_name: name, parameters: args }) => {
    return typeof name === "string" && isRecord(args) ? [{ name, args }] : [];
  });
  return calls.length > 0 && calls.length === uses.length ? calls : [call];
}

/** Returns an unused id of nine letters and digits, the only format that some services accept. */
export function createCallId(used: ReadonlySet<string>, start: "call" | "text" = "call"): string {
  for (let number = used.size + 1; ; number += 1) {
    const id = `${start}${String(number).padStart(5, "0")}`;
    if (!used.has(id)) return id;
  }
}

/** Joins parts of a name. Some servers send it once, some with each fragment, some as it grows, some in pieces. */
function mergeName(known: string, more: string): string {
  if (more === "") return known;
  return more.startsWith(known) ? more : known + more;
}

function readCallFragment(item: JsonRecord, signature: string | undefined) {
  const called = isRecord(item.function) ? item.function : item;
  const { name, arguments: given } = called;
  const { index, id } = item;
  return {
    index: typeof index === "number" || typeof index === "string" ? index : undefined,
    id: typeof id === "string" || typeof id === "number" ? String(id) : "",
    name: typeof name === "string" ? name.trim() : "",
    arguments: typeof given === "string" || isRecord(given) ? given : "",
    signature,
  };
}

/**
 * Whether a call repeats another one. Some servers send a call again with its id at another index, not always
 * completely; z.ai sends one again that was lost.
 */
function isRepeatedCall(call: PartialCall, other: PartialCall, isLater: boolean): boolean {
  const isLost = call.damaged && call.index !== undefined && !isLater && !other.damaged;
  if (isLost && call.index === other.index && call.name === other.name) return true;
  if (call === other || call.id === "" || call.id !== other.id || call.name !== other.name) return false;
  if (call.object || other.object || call.namedInChunk === other.namedInChunk) return false;
  if (call.text === other.text) return isLater;
  if (call.hasWholeArguments) return isLater && call.json === other.json;
  return other.hasWholeArguments && other.text.startsWith(call.text);
}

/** Returns the text as compact JSON; "" if it is not JSON. */
function normalizeJson(text: string): string {
  return JSON.stringify(parseJson(text)) ?? "";
}

function hasArguments(call: PartialCall): boolean {
  return call.object !== undefined || call.text.trim() !== "";
}
