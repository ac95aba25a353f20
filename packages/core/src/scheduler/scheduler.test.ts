import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { JsonSchema } from "@burin/contract/messages/message";
import type { AnsweredCall, ToolCall } from "@burin/contract/tool-call";
import {
  BaseTool,
  type Confirmation,
  type Decision,
  type OnUpdate,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";
import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "../approval/approval-policy.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import { createQuestion } from "./decision.ts";
import { type Confirm, Questions } from "./questions.ts";
import { Scheduler } from "./scheduler.ts";

type Params = { readonly n?: number };

/** A tool that records each step of its call. */
class Traced extends BaseTool<Params> {
  readonly displayName = "Traced";
  readonly description = "Writes down its steps.";
  readonly parameterSchema: JsonSchema = {
    type: "object",
    properties: { n: { type: "integer" } },
    additionalProperties: false,
  };
  readonly name: string;
  readonly kind: ToolKind;
  readonly trace: string[];
  work: (params: Params, signal: AbortSignal, onUpdate?: OnUpdate) => Promise<ToolResult> = async ({ n }) => {
    return { llmContent: `did ${n}`, returnDisplay: `shown ${n}` };
  };

  constructor(name: string, kind: ToolKind, trace: string[]) {
    super();
    this.name = name;
    this.kind = kind;
    this.trace = trace;
  }

  override validateToolParams(params: Params): string | null {
    this.trace.push("validate");
    return super.validateToolParams(params);
  }

  getDescription(params: Params): string {
    return `${this.name} ${params.n}`;
  }

  override async shouldConfirmExecute(): Promise<Confirmation | false> {
    this.trace.push("shouldConfirm");
    if (this.kind === "read") return false;
    return { kind: "info", title: "Really?", prompt: this.name, urls: [], grants: [this.name] };
  }

  async execute(params: Params, signal: AbortSignal, onUpdate?: OnUpdate): Promise<ToolResult> {
    this.trace.push(`execute ${params.n}`);
    return this.work(params, signal, onUpdate);
  }
}

interface Setup {
  readonly confirm?: Confirm;
  readonly mode?: ApprovalMode;
  readonly deny?: readonly string[];
}

function setUp({ confirm, mode, deny }: Setup = {}) {
  const trace: string[] = [];
  const registry = new ToolRegistry();
  const read = new Traced("look", "read", trace);
  const edit = new Traced("change", "edit", trace);
  registry.registerTool(read);
  registry.registerTool(edit);
  const states: ToolCall[] = [];
  const grants: string[] = [];
  const needs = {
    registry,
    judge: (request: Parameters<typeof judge>[0]) =>
      judge(request, mode ?? "default", {
        allow: grants.map(parseRule),
        ask: [],
        deny: (deny ?? []).map(parseRule),
      }),
    onGrant: (granted: readonly string[]) => {
      grants.push(...granted);
      return Promise.resolve(null);
    },
    closing: new AbortController().signal,
  };
  const questions = confirm && new Questions({ confirm });
  const scheduler = new Scheduler(questions ? { ...needs, questions: async () => questions } : needs);
  const controller = new AbortController();
  const run = (...calls: (readonly [name: string, args?: object, argsError?: string])[]) =>
    scheduler.run(
      calls.map(([name, args, argsError], index) => ({
        id: `c${index}`,
        name,
        args: { ...args },
        ...(argsError === undefined ? {} : { argsError }),
      })),
      { signal: controller.signal, onCall: (call) => states.push(call) },
    );
  return { trace, read, edit, states, grants, controller, run };
}

/** A signal like that of jsdom, which has none of Node's classes. */
class ForeignSignal {
  readonly aborted = false;
  addEventListener(): void {}
  removeEventListener(): void {}
  throwIfAborted(): void {}
}

function answering(...decisions: Decision[]): Confirm {
  return async () => decisions.shift() ?? { outcome: "cancel" };
}

function textOfAnswer(answer: AnsweredCall | undefined): unknown {
  return answer?.llmContent;
}

describe("Scheduler", () => {
  it("R27 R28 R29 R30 R31 R33 R34 takes a call through lookup, validation, confirmation and execution, in this order", async () => {
    const { run, trace, states } = setUp({ confirm: answering({ outcome: "once" }) });
    const [answer] = await run(["change", { n: 1 }]);
    expect(trace).toEqual(["validate", "shouldConfirm", "execute 1"]);
    expect(states.map((state) => state.status)).toEqual([
      "validating",
      "validating",
      "awaiting_approval",
      "executing",
      "success",
    ]);
    expect(answer).toMatchObject({ status: "success", description: "change 1", returnDisplay: "shown 1" });
  });

  it("R16 R29 answers an unknown tool with the closest known names", async () => {
    const { run } = setUp();
    const [answer] = await run(["lok"]);
    expect(answer).toMatchObject({ status: "error", error: { type: "unknown_tool" } });
    expect(textOfAnswer(answer)).toContain("Did you mean look");
    expect(textOfAnswer((await run(["deploy_to_moon"]))[0])).toContain("The tools are: change, look");
  });

  it("R30 invalid arguments: no confirmation, no execution, the error goes back", async () => {
    const { run, trace } = setUp({ confirm: answering({ outcome: "once" }) });
    const [answer] = await run(["change", { n: "many" }]);
    expect(trace).toEqual(["validate"]);
    expect(answer).toMatchObject({ status: "error", error: { type: "invalid_arguments" } });
    expect(textOfAnswer(answer)).toContain('"n" must be an integer');
  });

  it("P9 arguments that could not be read reach neither validation nor the tool", async () => {
    const { run, trace } = setUp();
    const [answer] = await run(["look", {}, "The arguments were cut."]);
    expect(trace).toEqual([]);
    expect(answer).toMatchObject({ status: "error", error: { type: "invalid_arguments" } });
  });

  it("P15 a number that came as text runs as a number", async () => {
    const { run, trace } = setUp();
    await run(["look", { n: "7" }]);
    expect(trace).toContain("execute 7");
  });

  it("R32 cancel: never executed; the answer says so, with the person's words", async () => {
    const { run, trace } = setUp({ confirm: answering({ outcome: "cancel", reason: "use the other file" }) });
    const [answer] = await run(["change"]);
    expect(trace).toEqual(["validate", "shouldConfirm"]);
    expect(answer?.status).toBe("cancelled");
    expect(textOfAnswer(answer)).toContain("cancelled by user: use the other file");
  });

  it("R31 nobody to ask: nothing runs, and the answer carries the question", async () => {
    const { run, trace } = setUp();
    const [answer] = await run(["change"]);
    expect(trace).not.toContain("execute undefined");
    expect(answer).toMatchObject({
      status: "error",
      error: { type: "needs_approval" },
      confirmation: { title: "Really?" },
    });
  });

  it("R31 always: the same is not asked again", async () => {
    const { run, grants, trace } = setUp({ confirm: answering({ outcome: "always", scope: "session" }) });
    await run(["change", { n: 1 }]);
    await run(["change", { n: 2 }]);
    expect(grants).toEqual(["change"]);
    expect(trace.filter((step) => step.startsWith("execute"))).toEqual(["execute 1", "execute 2"]);
  });

  it("R31 a deny rule stops a tool that asks nothing, with the rule in words", async () => {
    const { run, trace } = setUp({ deny: ["look"] });
    const [answer] = await run(["look"]);
    expect(trace.join()).not.toContain("execute");
    expect(answer).toMatchObject({ status: "error", error: { type: "denied" } });
    expect(textOfAnswer(answer)).toContain("deny look");
  });

  it("R14 what a tool throws becomes an error answer", async () => {
    const { run, read } = setUp();
    read.work = () => Promise.reject(new Error("disk on fire"));
    const [answer] = await run(["look"]);
    expect(answer).toMatchObject({ status: "error", error: { type: "tool_failed" } });
    expect(textOfAnswer(answer)).toContain("disk on fire");
  });

  it("R9 shows live output while the call runs", async () => {
    const { run, read, states } = setUp();
    read.work = async (_params, _signal, onUpdate) => {
      onUpdate?.("half way");
      return { llmContent: "", returnDisplay: "" };
    };
    await run(["look"]);
    expect(states).toContainEqual(expect.objectContaining({ status: "executing", display: "half way" }));
  });

  it("R36 several calls: each passes every step, answers keep the order, neighbours that read run side by side", async () => {
    const { run, read, trace, states } = setUp({ mode: "yolo" });
    const order: string[] = [];
    let endSecond = () => {};
    const secondEnds = new Promise<void>((resolve) => {
      endSecond = resolve;
    });
    read.work = async ({ n }) => {
      order.push(`start ${n}`);
      if (n === 1) await secondEnds;
      order.push(`end ${n}`);
      if (n === 2) endSecond();
      return { llmContent: `${n}`, returnDisplay: "" };
    };
    const answers = await run(
      ["look", { n: 1 }],
      ["look", { n: 2 }],
      ["change", { n: 3 }],
      ["look", { n: 4 }],
    );
    expect(order).toEqual(["start 1", "start 2", "end 2", "end 1", "start 4", "end 4"]);
    expect(answers.map((answer) => answer.llmContent)).toEqual(["1", "2", "did 3", "4"]);
    expect(trace.indexOf("execute 3")).toBeGreaterThan(trace.indexOf("execute 2"));
    expect(states.slice(0, 4).map((state) => state.callId)).toEqual(["c0", "c1", "c2", "c3"]);
  });

  it("R36 many calls side by side make Node warn of nothing", async () => {
    const { run, read } = setUp();
    const warnings: string[] = [];
    const hear = ({ name }: Error) => void warnings.push(name);
    process.on("warning", hear);
    read.work = async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { llmContent: `${n}`, returnDisplay: "" };
    };
    await run(...Array.from({ length: 40 }, (_, n) => ["look", { n }] as const));
    await new Promise(setImmediate);
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });

  it("R36 the signal may be that of another platform", async () => {
    const { run, controller } = setUp();
    Object.defineProperty(controller, "signal", { value: new ForeignSignal() });
    expect(await run(["look", { n: 1 }])).toMatchObject([{ status: "success" }]);
  });

  it("R33 an abort reaches the tool, and what did not start never starts", async () => {
    const { run, read, controller, trace } = setUp({ mode: "yolo" });
    read.work = (_params, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
        controller.abort();
      });
    const answers = await run(["look", { n: 1 }], ["change", { n: 2 }]);
    expect(answers.map((answer) => answer.status)).toEqual(["cancelled", "cancelled"]);
    expect(trace.filter((step) => step.startsWith("execute"))).toEqual(["execute 1"]);
  });

  it("P11 an abort while the question is open: the tool never runs", async () => {
    const { run, controller, trace } = setUp({
      confirm: async () => {
        controller.abort();
        return { outcome: "once" };
      },
    });
    const [answer] = await run(["change"]);
    expect(answer?.status).toBe("cancelled");
    expect(trace.join()).not.toContain("execute");
  });

  it("asks one question at a time, also when calls run side by side", async () => {
    let open = 0;
    let max = 0;
    const { run, edit } = setUp({
      confirm: async () => {
        open += 1;
        max = Math.max(max, open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open -= 1;
        return { outcome: "once" };
      },
    });
    Object.assign(edit, { kind: "fetch" });
    const answers = await run(["change"], ["change"], ["change"]);
    expect(answers.every((answer) => answer.status === "success")).toBe(true);
    expect(max).toBe(1);
  });

  it("nothing unbounded reaches the model", async () => {
    const { run, read } = setUp();
    read.work = async () => ({
      llmContent: ["x".repeat(1_000_000), { text: "y".repeat(1_000_000) }],
      returnDisplay: "",
    });
    const [answer] = await run(["look"]);
    expect(JSON.stringify(answer?.llmContent).length).toBeLessThan(210_000);
    expect(JSON.stringify(answer?.llmContent)).toContain("characters left out");
  });

  it("P21 the reason of a question is one short line without hidden characters, whatever it quotes", () => {
    const reasonFor = (reason: string) =>
      createQuestion({ callId: "c", confirmation: { kind: "plan", title: "", grants: [], plan: "" }, reason })
        .reason;
    const { length } = reasonFor(`\`cat <<E${"\nx".repeat(50_000)}\nE\` needs an approval`);
    expect(length).toBeLessThan(600);
    expect(reasonFor(`a\u202eb\n\n${" ".repeat(500)}c`)).toBe("a\\u{202e}b\\n\\n[500 spaces]c");
    const plain = "the rule ask git forbids `git log`";
    expect(reasonFor(plain)).toBe(plain);
  });
});
