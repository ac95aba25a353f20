import { isRecord } from "@burin/contract/messages/untrusted-json";

const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;

export function toolNameProblem(name: unknown): string | undefined {
  return typeof name === "string" && TOOL_NAME.test(name)
    ? undefined
    : `the name "${String(name)}" is not allowed`;
}

/** What is wrong with a list of declared tools, each with its name and its schema. */
export function declaredProblem(tools: readonly { name: unknown; schema: unknown }[]): string | undefined {
  const names = new Set<unknown>();
  for (const { name, schema } of tools) {
    const problem = toolNameProblem(name);
    if (problem !== undefined) return `tools: ${problem}`;
    if (names.has(name)) return `tools: "${String(name)}" is there twice`;
    if (schema !== undefined && !(isRecord(schema) && schema.type === "object")) {
      return `tools: the parameters of "${String(name)}" are not a schema of an object`;
    }
    names.add(name);
  }
  return undefined;
}

/** Follows the calls of a conversation: each id once, each call answered exactly once and in order. */
export class CallLedger {
  readonly #known = new Set<string>();
  readonly #open = new Set<string>();
  readonly #ids: RegExp;

  constructor(ids: RegExp = CALL_ID) {
    this.#ids = ids;
  }

  get unanswered(): string | undefined {
    return this.#open.size > 0 ? `no answer to the call ${[...this.#open].join(", ")}` : undefined;
  }

  call(id: unknown, name: unknown): string | undefined {
    if (typeof id !== "string" || !this.#ids.test(id)) return `the call id "${String(id)}" is not allowed`;
    if (this.#known.has(id)) return `there is a second call with the id ${id}`;
    this.#known.add(id);
    this.#open.add(id);
    return toolNameProblem(name);
  }

  answer(id: unknown): string | undefined {
    if (typeof id !== "string" || !this.#known.has(id))
      return `"${String(id)}" is answered, which no call has`;
    return this.#open.delete(id) ? undefined : `the call ${id} is answered once more or too late`;
  }
}

/** The first problem that a check finds in one of the items. */
export function firstProblem<T>(
  items: readonly T[],
  check: (item: T) => string | undefined,
): string | undefined {
  return items.map(check).find((problem) => problem !== undefined);
}
