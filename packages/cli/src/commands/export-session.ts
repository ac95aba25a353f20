import { rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import type { AgentEvent } from "@burin/core";
import { describeError, findSession, redactSecrets } from "@burin/core/internal";
import { isAnswered, type Message, readLog } from "@burin/core/sessions";
import { currentLanguage, say } from "../locales/say.ts";
import { resolveSessionLocation } from "../request/options.ts";
import { readPromptWords } from "../state/transcript.ts";
import { shortenLine } from "../terminal/output.ts";
import type { PageBlock } from "../ui/page.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

const LONGEST_TITLE = 100;

export const exportCommands: readonly ScreenCommand[] = [
  { name: "export", words: "[file]", isQuiet: true, run: exportSession },
  { name: "copy", isQuiet: true, run: copyAnswer },
];

async function exportSession(desk: CommandDesk, words: string): Promise<void> {
  const { session, options, settings } = desk;
  if (session === null || session.history.length === 0) return void desk.note(say("session.none"));
  const file = resolve(options.root, (words || `burin-${session.id}.md`).replace(/^~(?=[/\\])/, homedir));
  const secrets = { environment: process.env, servers: settings?.mcpServers };
  const history = await redactSecrets(session.history, secrets);
  const texts = history.map(formatMarkdown).filter((text) => text !== "");
  const document = /\.html?$/i.test(file) ? await renderHtml(desk) : `${texts.join("\n\n")}\n`;
  try {
    // Do not overwrite: an existing file may contain somebody's work.
    writeFileSync(file, document, { flag: "wx" });
    desk.note(say("export.done", { file }));
  } catch (error) {
    // On a full disk, remove the incomplete file.
    if (/^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? ""))
      rmSync(file, { force: true });
    desk.note(say("export.failed", { file, why: describeError(error) }), true);
  }
}

function copyAnswer(desk: CommandDesk): void {
  const said = (desk.session?.history ?? []).filter(({ role }) => role === "model").map(listTexts);
  const answer = (said.findLast((parts) => parts.length > 0) ?? []).join("").trim();
  if (answer === "") desk.note(say("copy.none"));
  else {
    desk.copy(answer);
    desk.note(say("copy.done", { count: answer.length }));
  }
}

function formatMarkdown(message: Message): string {
  const text = listTexts(message).join("\n").trim();
  const calls = message.parts.flatMap(({ functionCall, functionResponse }) => {
    if (functionCall !== undefined)
      return [`- \`${functionCall.name}\` \`${JSON.stringify(functionCall.args)}\``];
    return functionResponse === undefined
      ? []
      : [wrapInFence(JSON.stringify(functionResponse.response ?? {}, null, 2))];
  });
  const isPrompt = message.role === "user" && text !== "";
  const words = readPromptWords(text).replaceAll("\n", "\n> ");
  const said = isPrompt ? `> ${words}` : text;
  return [said, ...calls].filter((part) => part !== "").join("\n\n");
}

/** Returns what was said, without the texts that Burin itself sent to the model in the user's name. */
function listTexts({ role, parts }: Message): string[] {
  const texts = parts.flatMap(({ text, thought }) => (text === undefined || thought ? [] : [text]));
  return role === "user" ? texts.filter((text) => !isBurinNote(text.trim())) : texts;
}

/** Wraps the text in a fence that is longer than any run of backticks in it. */
function wrapInFence(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

/** Returns the session from its log: what the user typed, what the model said, and each call with its result. */
async function buildBlocks(desk: CommandDesk): Promise<PageBlock[]> {
  const { session, options } = desk;
  if (session === null) return [];
  const events = await readEvents(desk, session.id).catch(() => null);
  if (events === null || options.session.kind === "unrecorded")
    return session.history.flatMap(buildMessageBlocks);
  const blocks: PageBlock[] = [];
  for (const event of events) {
    const last = blocks.at(-1);
    if (event.type === "text" && event.role === "user")
      blocks.push({ kind: "user", text: readPromptWords(event.text) });
    else if (event.type === "text" && last?.kind === "model")
      blocks[blocks.length - 1] = { kind: "model", text: last.text + event.text };
    else if (event.type === "text") blocks.push({ kind: "model", text: event.text });
    else if (event.type === "tool_call" && isAnswered(event.call))
      blocks.push({ kind: "call", call: event.call });
    else if (event.type === "done" && event.error !== undefined && event.status !== "success")
      blocks.push({ kind: "note", text: event.error.message });
  }
  return blocks;
}

async function readEvents({ options }: CommandDesk, id: string): Promise<AgentEvent[]> {
  const { home, root } = resolveSessionLocation(options);
  const { path } = await findSession(home, root, id);
  return [...readLog(path)].map(({ event }) => event);
}

function buildMessageBlocks(message: Message): PageBlock[] {
  const text = listTexts(message).join("\n").trim();
  if (text === "") return [];
  return [message.role === "user" ? { kind: "user", text: readPromptWords(text) } : { kind: "model", text }];
}

/** Whether Burin wrote this text itself: such notes are in brackets in a user message. */
function isBurinNote(text: string): boolean {
  return text.startsWith("[") && text.endsWith("]");
}

async function renderHtml(desk: CommandDesk): Promise<string> {
  const { transcript, options, settings } = desk;
  const secrets = { environment: process.env, servers: settings?.mcpServers };
  const blocks = await redactSecrets(await buildBlocks(desk), secrets);
  const { renderPage } = await import("../ui/page.ts");
  const prompt = blocks.find(({ kind }) => kind === "user");
  const first = prompt?.kind === "user" ? shortenLine(prompt.text, LONGEST_TITLE) : "Burin";
  const day = new Date().toLocaleDateString(currentLanguage(), { dateStyle: "long" });
  const about = [basename(options.root), transcript.model, day].filter((part) => part !== "").join(" · ");
  return renderPage({ title: transcript.name || first, about, language: currentLanguage() }, blocks);
}
