import { once } from "@burin/contract/async/once";
import type {
  Approval,
  CallContext,
  Confirmation,
  OnUpdate,
  PreparedCall,
  Tool,
} from "@burin/contract/tools";
import type { GivenAnswer, GuardOptions } from "./guarded-calls.ts";

type Params = Record<string, unknown>;

const FIELDS = [
  "name",
  "plainName",
  "displayName",
  "description",
  "parameterSchema",
  "kind",
  "missing",
] as const;
const NEVER = new AbortController().signal;

/**
 * Wraps a tool as a registry returns it: each call goes through the whole flow. All other members, and the class, are
 * the tool's own.
 */
export function guardTool(tool: Tool, needs: GuardOptions): Tool {
  const own: object = Object.create(Object.getPrototypeOf(tool));
  for (const field of FIELDS)
    Object.defineProperty(own, field, { get: () => tool[field], enumerable: true, configurable: true });
  return new Proxy(Object.assign(own, createGuardedMethods(tool, needs)) as Tool, {
    get: (target, key) => {
      if (Object.hasOwn(target, key)) return Reflect.get(target, key);
      const value: unknown = Reflect.get(tool, key, tool);
      return typeof value === "function" && key !== "constructor" ? value.bind(tool) : value;
    },
  });
}

function createGuardedMethods(tool: Tool, needs: GuardOptions) {
  const calls = once(async () => new (await import("./guarded-calls.ts")).GuardedCalls(tool, needs));
  /** Answers given through `approvedByUser`, kept until the call with these params is run. */
  const answers = new WeakMap<Params, GivenAnswer>();
  const question = async (params: Params, signal = NEVER) => (await calls()).findQuestion(params, signal);
  return {
    validateToolParams: (params: Params) => tool.validateToolParams(params),
    getDescription: (params: Params) => tool.getDescription(params),
    ruleSubjects: (params: Params) => tool.ruleSubjects?.(params) ?? [],
    shouldConfirmExecute: question,
    approvedByUser: (params: Params, confirmation: Confirmation, approval: Approval) => {
      answers.set(params, { confirmation, approval });
    },
    prepare: async (params: Params, signal = NEVER): Promise<PreparedCall> => {
      const confirmation = await question(params, signal);
      return {
        confirmation,
        run: async (approval, running = signal, context = {}) => {
          const given = approval && confirmation ? { approval, confirmation } : null;
          return (await calls()).run(params, { ...context, signal: running, given });
        },
      };
    },
    execute: async (
      params: Params,
      signal = NEVER,
      ...rest: [onUpdate?: OnUpdate, context?: CallContext]
    ) => {
      const [onUpdate, context] = rest;
      const given = answers.get(params) ?? null;
      answers.delete(params);
      return (await calls()).run(params, { ...context, ...(onUpdate ? { onUpdate } : {}), signal, given });
    },
  };
}
