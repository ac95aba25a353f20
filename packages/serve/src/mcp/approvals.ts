import { createHash, randomUUID } from "node:crypto";
import {
  type Confirm,
  type Confirmation,
  type Decision,
  describeEffects,
  type Question,
  questionView,
} from "@burin/core";
import { type InputRequests, inputRequired, inputResponse } from "@modelcontextprotocol/server";

/** Limits the memory for clients that never answer. */
const MOST_OPEN = 1000;
const KEY = "approval";
const WIDTHS = ["exact", "wide", "all"] as const;

/** What came back when a client repeats a call after asking its user. */
export interface Answers {
  readonly state: string | undefined;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
}

interface Given {
  readonly asked: string;
  readonly decision: Decision;
}

/**
 * Approvals in a protocol where a question ends a call, and the answer comes with the same call again: an approval
 * is compared with the new question, and is valid for one call.
 */
export class Approvals {
  /** The questions, by the state that comes back with the answer. */
  readonly #open = new Map<string, string>();
  readonly #given = new Map<string, Given>();
  readonly #asked = new Map<string, Question>();

  /** Answers the question of a call if its user has answered exactly it; otherwise the call is not approved. */
  readonly confirm: Confirm = async (confirmation, _signal, question) => {
    const { callId } = question;
    if (callId === null) return null;
    this.#asked.set(callId, question);
    const given = this.#given.get(callId);
    return given?.asked === printOf(confirmation) ? given.decision : null;
  };

  /** Does the work of one call, with the answer that came with it; also returns the question asked in it. */
  async during<T>(callId: string, answers: Answers, work: () => Promise<T>) {
    const given = this.#take(answers);
    if (given !== null) this.#given.set(callId, given);
    try {
      const result = await work();
      return [result, this.#asked.get(callId)] as const;
    } finally {
      this.#given.delete(callId);
      this.#asked.delete(callId);
    }
  }

  /** What to send instead of a result, so that the user is asked. */
  ask({ confirmation, reason }: Question): ReturnType<typeof inputRequired> {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MOST_OPEN && oldest !== undefined) this.#open.delete(oldest);
    const requestState = randomUUID();
    this.#open.set(requestState, printOf(confirmation));
    const requestedSchema = schemaOf(confirmation);
    const elicited = inputRequired.elicit({ message: messageOf(confirmation, reason), requestedSchema });
    return inputRequired({ inputRequests: { [KEY]: elicited } satisfies InputRequests, requestState });
  }

  #take({ state, responses }: Answers): Given | null {
    const asked = state === undefined ? undefined : this.#open.get(state);
    if (state === undefined || asked === undefined) return null;
    const response = inputResponse(responses, KEY);
    if (response.kind !== "elicit") return null;
    this.#open.delete(state);
    const { action, content } = response;
    return { asked, decision: action === "accept" ? decisionOf(content?.decision) : notAsked(action) };
  }
}

export const BY_A_RULE =
  "a rule can allow the call: --allow where this server is started, or permissions.allow of settings.json";

/** Without a screen, some clients say no to every question themselves, though they can ask. */
function notAsked(action: string): Decision {
  const reason = `the client answered "${action}". If it does so without asking, ${BY_A_RULE}`;
  return { outcome: "cancel", reason };
}

function decisionOf(said: unknown): Decision {
  if (said === "once") return { outcome: "once" };
  const [scope, width] = typeof said === "string" ? said.split("-") : [];
  const chosen = WIDTHS.find((one) => one === width);
  if (scope === "session" || scope === "project") {
    return { outcome: "always", scope, ...(chosen && { width: chosen }) };
  }
  return { outcome: "cancel" };
}

function printOf(confirmation: Confirmation): string {
  return createHash("sha256").update(JSON.stringify(confirmation)).digest("hex");
}

function messageOf(confirmation: Confirmation, reason: string): string {
  const { title, target, lines } = questionView(confirmation);
  const where = target.every((one) => title.includes(one)) ? [] : [`On: ${target.join(", ")}`];
  return [title, ...where, ...lines, ...describeEffects(confirmation), `Asked because: ${reason}`].join("\n");
}

function schemaOf(confirmation: Confirmation) {
  const { grants, widths = [] } = questionView(confirmation);
  const others = widths.filter((one) => one.grants.join() !== grants.join());
  const always = (["session", "project"] as const).flatMap((scope) => {
    const until = scope === "session" ? "until the server ends" : "in this project";
    const words = (rules: readonly string[]) => `Yes, always ${until} (${rules.join(", ")})`;
    const more = scope === "session" ? others : [];
    return [[scope, words(grants)], ...more.map((one) => [`${scope}-${one.width}`, words(one.grants)])];
  });
  const choices = { once: "Yes, once", ...(grants.length === 0 ? {} : Object.fromEntries(always)), no: "No" };
  return {
    type: "object" as const,
    properties: {
      decision: {
        type: "string" as const,
        title: "Allow it?",
        enum: Object.keys(choices),
        enumNames: Object.values(choices),
      },
    },
    required: ["decision"],
  };
}

/** For a client that cannot ask its user: how to allow such a call. */
export function howToAllow({ confirmation }: Question): string {
  const rules = (confirmation.widths?.exact ?? confirmation.grants)
    .map((grant) => ` --allow '${grant}'`)
    .join("");
  const start =
    rules === "" ? "" : `start it with${rules}, add these rules to permissions.allow of settings.json, or `;
  return `This client cannot ask its user. The user who starts this server can allow it: ${start}start it with --approval-mode auto-edit (file changes) or yolo (everything).`;
}
