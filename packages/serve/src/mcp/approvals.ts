import { createHash, randomUUID } from "node:crypto";
import {
  buildQuestionView,
  type Confirm,
  type Confirmation,
  type Decision,
  describeEffects,
  type Question,
} from "@burin/core";
import { type InputRequests, inputRequired, inputResponse } from "@modelcontextprotocol/server";

/** Limits the memory for clients that never answer. */
const MAX_OPEN = 1000;
const APPROVAL_KEY = "approval";
const WIDTHS = ["exact", "wide", "all"] as const;

/** The answer that a client sends when it repeats a call after asking its user. */
export interface ClientAnswers {
  readonly state: string | undefined;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
}

interface GivenAnswer {
  readonly asked: string;
  readonly decision: Decision;
}

/**
 * Approvals for a protocol in which a question ends the call and the answer arrives with a repeated call. An approval
 * is compared with the new question and is valid for one call.
 */
export class Approvals {
  /** Open questions, keyed by the state that the client sends back with the answer. */
  readonly #open = new Map<string, string>();
  readonly #given = new Map<string, GivenAnswer>();
  readonly #asked = new Map<string, Question>();

  /** Answers a call's question if its user has answered exactly that question; otherwise the call is not approved. */
  readonly confirm: Confirm = async (confirmation, _signal, question) => {
    const { callId } = question;
    if (callId === null) return null;
    this.#asked.set(callId, question);
    const given = this.#given.get(callId);
    return given?.asked === hashConfirmation(confirmation) ? given.decision : null;
  };

  /** Runs one call with the answer that came with it. Also returns the question that the call asked. */
  async runWithAnswers<T>(callId: string, answers: ClientAnswers, work: () => Promise<T>) {
    const given = this.#takeAnswer(answers);
    if (given !== null) this.#given.set(callId, given);
    try {
      const result = await work();
      return [result, this.#asked.get(callId)] as const;
    } finally {
      this.#given.delete(callId);
      this.#asked.delete(callId);
    }
  }

  /** Builds the response that asks the user, sent in place of a result. */
  createQuestionResponse({ confirmation, reason }: Question): ReturnType<typeof inputRequired> {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    const requestState = randomUUID();
    this.#open.set(requestState, hashConfirmation(confirmation));
    const requestedSchema = buildSchema(confirmation);
    const elicited = inputRequired.elicit({ message: buildMessage(confirmation, reason), requestedSchema });
    return inputRequired({
      inputRequests: { [APPROVAL_KEY]: elicited } satisfies InputRequests,
      requestState,
    });
  }

  #takeAnswer({ state, responses }: ClientAnswers): GivenAnswer | null {
    const asked = state === undefined ? undefined : this.#open.get(state);
    if (state === undefined || asked === undefined) return null;
    const response = inputResponse(responses, APPROVAL_KEY);
    if (response.kind !== "elicit") return null;
    this.#open.delete(state);
    const { action, content } = response;
    return {
      asked,
      decision: action === "accept" ? readDecision(content?.decision) : createNotAsked(action),
    };
  }
}

export const RULE_ADVICE =
  "a rule can allow the call: --allow where this server is started, or permissions.allow of settings.json";

/**
 * Creates the decision for a question that was not asked: some clients without a screen answer no to every question,
 * although they claim that they can ask.
 */
function createNotAsked(action: string): Decision {
  const reason = `the client answered "${action}". If it does so without asking, ${RULE_ADVICE}`;
  return { outcome: "cancel", reason };
}

function readDecision(said: unknown): Decision {
  if (said === "once") return { outcome: "once" };
  const [scope, width] = typeof said === "string" ? said.split("-") : [];
  const chosen = WIDTHS.find((one) => one === width);
  if (scope === "session" || scope === "project") {
    return { outcome: "always", scope, ...(chosen && { width: chosen }) };
  }
  return { outcome: "cancel" };
}

function hashConfirmation(confirmation: Confirmation): string {
  return createHash("sha256").update(JSON.stringify(confirmation)).digest("hex");
}

function buildMessage(confirmation: Confirmation, reason: string): string {
  const { title, target, lines } = buildQuestionView(confirmation);
  const where = target.every((one) => title.includes(one)) ? [] : [`On: ${target.join(", ")}`];
  return [title, ...where, ...lines, ...describeEffects(confirmation), `Asked because: ${reason}`].join("\n");
}

function buildSchema(confirmation: Confirmation) {
  const { grants, widths = [] } = buildQuestionView(confirmation);
  const others = widths.filter((one) => one.grants.join() !== grants.join());
  const always = (["session", "project"] as const).flatMap((scope) => {
    const until = scope === "session" ? "until the server ends" : "in this project";
    const formatAlways = (rules: readonly string[]) => `Yes, always ${until} (${rules.join(", ")})`;
    const more = scope === "session" ? others : [];
    return [
      [scope, formatAlways(grants)],
      ...more.map((one) => [`${scope}-${one.width}`, formatAlways(one.grants)]),
    ];
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

/** Explains how to allow such a call, for a client that cannot ask its user. */
export function explainHowToAllow({ confirmation }: Question): string {
  const rules = (confirmation.widths?.exact ?? confirmation.grants)
    .map((grant) => ` --allow '${grant}'`)
    .join("");
  const start =
    rules === "" ? "" : `start it with${rules}, add these rules to permissions.allow of settings.json, or `;
  return [
    "This client cannot ask its user. The user who starts this server can allow it:",
    `${start}start it with --approval-mode auto-edit (file changes) or yolo (everything).`,
  ].join(" ");
}
