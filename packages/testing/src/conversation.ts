import assert from "node:assert/strict";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";

const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Runs a check, and puts the place before the message that it throws. */
export function checkWithPlace(place: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new Error(`${place}${describeError(error)}`);
  }
}

export function checkToolName(name: unknown): void {
  assert(typeof name === "string" && TOOL_NAME.test(name), `the name "${String(name)}" is not allowed`);
}

/** Checks a list of declared tools, each with its name and its schema. */
export function checkDeclaredTools(tools: readonly { name: unknown; schema: unknown }[]): void {
  const names = new Set<unknown>();
  for (const { name, schema } of tools) {
    checkWithPlace("tools: ", () => checkToolName(name));
    assert(!names.has(name), `tools: "${String(name)}" is there twice`);
    const isOfObject = schema === undefined || (isRecord(schema) && schema.type === "object");
    assert(isOfObject, `tools: the parameters of "${String(name)}" are not a schema of an object`);
    const keys = Object.keys((isRecord(schema) && schema.properties) || {}).join();
    assert(/^(?:[\w.-]{1,64}(?:,|$))*$/.test(keys), `tools: Property keys do not match: ${keys}`);
    names.add(name);
  }
}

/** Checks the calls of a conversation: each id once, each call answered exactly once and in order. */
export class CallLedger {
  readonly #known = new Set<string>();
  readonly #open = new Set<string>();
  readonly #ids: RegExp;

  constructor(ids: RegExp = CALL_ID) {
    this.#ids = ids;
  }

  checkAnswered(): void {
    assert(this.#open.size === 0, `no answer to the call ${[...this.#open].join(", ")}`);
  }

  call(id: unknown, name: unknown): void {
    assert(typeof id === "string" && this.#ids.test(id), `the call id "${String(id)}" is not allowed`);
    assert(!this.#known.has(id), `there is a second call with the id ${id}`);
    this.#known.add(id);
    this.#open.add(id);
    checkToolName(name);
  }

  answer(id: unknown): void {
    assert(typeof id === "string" && this.#known.has(id), `"${String(id)}" is answered, which no call has`);
    assert(this.#open.delete(id), `the call ${id} is answered once more or too late`);
  }
}
