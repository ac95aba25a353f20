import { rm } from "node:fs/promises";
import { type AgentEvent, buildQuestionView, type Confirmation, type Decision } from "@burin/core";
import { openSession } from "@burin/core/internal";
import type { ToolCall } from "@burin/core/sessions";
import { detectLanguage, useTexts } from "../../locales/say.ts";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-code.ts";
import type { Output } from "../../terminal/output.ts";
import { explainConnection } from "../print/how-to-connect.ts";
import { type Demo, makeDemo } from "./demo-model.ts";

/** Runs the demo. At a terminal it is a session of the app and the user answers; otherwise the demo answers itself. */
export async function run({ options }: SubcommandRequest, io: Io): Promise<ExitCode> {
  if (process.stdin.isTTY && process.stdout.isTTY)
    return (await import("../interactive/interactive.ts")).runInteractive("/demo", options, io);
  await useTexts(options.language ?? detectLanguage(process.env));
  const demo = await makeDemo();
  const { output } = io;
  try {
    output.out(`Scripted models, the real agent and the real tools, in ${demo.root}\n\n`);
    await playDemo(demo, output);
    output.out(
      `\nTo connect a real model: ${(await explainConnection()).replace(/^no model.* Name/, "name")}\n`,
    );
    return EXIT.done;
  } finally {
    await rm(demo.top, { recursive: true, force: true });
  }
}

/** The demo's first answer when it answers itself. It shows what happens after a no; all later answers are yes. */
const FIRST_ANSWER: Decision = { outcome: "cancel", reason: "why filter?" };

async function playDemo({ root, home, model, prompt }: Demo, output: Output): Promise<void> {
  let answer = FIRST_ANSWER;
  const confirm = async (question: Confirmation) => {
    const { title, lines } = buildQuestionView(question);
    output.out(`${formatLabel(output, "ask")}${title}\n`);
    output.out(indentText(lines.join("\n"), output));
    const given = answer;
    answer = { outcome: "once" };
    const words = given.outcome === "cancel" ? `no: ${given.reason}` : "yes";
    output.out(`${formatLabel(output, "you")}${words} (the demo answers for you)\n`);
    return given;
  };
  const session = openSession({ root, model, confirm, environment: { ...process.env, BURIN_HOME: home } });
  try {
    for await (const event of session.run(prompt)) show(event, output);
  } finally {
    await session.close();
  }
}

function show(event: AgentEvent, output: Output): void {
  if (event.type === "text")
    output.out(`${formatLabel(output, event.role === "user" ? "you" : "model")}${event.text}\n`);
  if (event.type === "tool_call") showCall(event.call, output);
  if (event.type === "done")
    output.out(`${formatLabel(output, "done")}${event.status}, ${event.turns} turns\n`);
}

function showCall(call: ToolCall, output: Output): void {
  if (call.status === "executing" && call.display === undefined) {
    output.out(`${formatLabel(output, "call")}${call.description}\n`);
  }
  if (call.status === "executing" && typeof call.display === "object" && call.display.kind === "progress") {
    output.out(indentText(`> ${call.display.lines.at(-1)}`, output));
  }
  if (call.status !== "success" && call.status !== "error") return;
  const text = typeof call.llmContent === "string" ? call.llmContent : JSON.stringify(call.llmContent);
  output.out(indentText(text, output));
}

function formatLabel(output: Output, name: string): string {
  return `${output.styled("bold", name.padEnd(5))}  `;
}

function indentText(text: string, output: Output): string {
  const lines = text.trimEnd().split("\n");
  return lines.map((line) => `         ${output.styled("dim", line)}\n`).join("");
}
