import { rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import type { AgentEvent } from "@burin/core";
import { findSession, messageOf, withoutSecrets } from "@burin/core/internal";
import { isAnswered, type Message, readLog } from "@burin/core/sessions";
import { language, say } from "../locales/say.ts";
import { sessionPlace } from "../request/options.ts";
import { wordsOf } from "../state/transcript.ts";
import { shortLine } from "../terminal/output.ts";
import type { PageBlock } from "../ui/page.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

const LONGEST_TITLE = 100;

export const exportCommands: readonly ScreenCommand[] = [
  { name: "export", words: "[file.md | file.html]", isQuiet: true, run: exportSession },
  { name: "copy", isQuiet: true, run: copyAnswer },
];

async function exportSession(desk: CommandDesk, words: string): Promise<void> {
  const { session, options, settings } = desk;
  if (session === null || session.history.length === 0) return void desk.note(say("session.none"));
  const file = resolve(options.root, (words || `burin-${session.id}.md`).replace(/^~(?=[/\\])/, homedir));
  const secrets = { environment: process.env, servers: settings?.mcpServers };
  const history = await withoutSecrets(session.history, secrets);
  const texts = history.map(markdownOf).filter((text) => text !== "");
  const document = /\.html?$/i.test(file) ? await htmlOf(desk) : `${texts.join("\n\n")}\n`;
  try {
    // An existing file may contain somebody's work.
    writeFileSync(file, document, { flag: "wx" });
    desk.note(say("export.done", { file }));
  } catch (error) {
    // A full disk leaves the beginning.
    if (/^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? ""))
      rmSync(file, { force: true });
    desk.note(say("export.failed", { file, why: messageOf(error) }), true);
  }
}

function copyAnswer(desk: CommandDesk): void {
  const said = (desk.session?.history ?? []).filter(({ role }) => role === "model").map(textPartsOf);
  const answer = (said.findLast((parts) => parts.length > 0) ?? []).join("").trim();
  if (answer === "") desk.note(say("copy.none"));
  else {
    desk.copy(answer);
    desk.note(say("copy.done", { count: answer.length }));
  }
}

function markdownOf(message: Message): string {
  const text = textPartsOf(message).join("\n").trim();
  const calls = message.parts.flatMap(({ functionCall, functionResponse }) => {
    if (functionCall !== undefined)
      return [`- \`${functionCall.name}\` \`${JSON.stringify(functionCall.args)}\``];
    return functionResponse === undefined
      ? []
      : [fenced(JSON.stringify(functionResponse.response ?? {}, null, 2))];
  });
  const isPrompt = message.role === "user" && text !== "";
  const words = wordsOf(text).replaceAll("\n", "\n> ");
  const said = isPrompt ? `> ${words}` : text;
  return [said, ...calls].filter((part) => part !== "").join("\n\n");
}

/** What was said; without what Burin itself tells the model in the user's place. */
function textPartsOf({ role, parts }: Message): string[] {
  const texts = parts.flatMap(({ text, thought }) => (text === undefined || thought ? [] : [text]));
  return role === "user" ? texts.filter((text) => !isForModel(text.trim())) : texts;
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

/** The session as its log has it: what the user typed, what the model said, and each call with its result. */
async function blocksOf(desk: CommandDesk): Promise<PageBlock[]> {
  const { session, options } = desk;
  if (session === null) return [];
  const events = await eventsOf(desk, session.id).catch(() => null);
  if (events === null || options.session.kind === "unrecorded")
    return session.history.flatMap(blocksInMessage);
  const blocks: PageBlock[] = [];
  for (const event of events) {
    const last = blocks.at(-1);
    if (event.type === "text" && event.role === "user")
      blocks.push({ kind: "user", text: wordsOf(event.text) });
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

async function eventsOf({ options }: CommandDesk, id: string): Promise<AgentEvent[]> {
  const { home, root } = sessionPlace(options);
  const { path } = await findSession(home, root, id);
  return [...readLog(path)].map(({ event }) => event);
}

function blocksInMessage(message: Message): PageBlock[] {
  const text = textPartsOf(message).join("\n").trim();
  if (text === "") return [];
  return [message.role === "user" ? { kind: "user", text: wordsOf(text) } : { kind: "model", text }];
}

/** Notes of Burin itself stand in brackets in the user's place. */
function isForModel(text: string): boolean {
  return text.startsWith("[") && text.endsWith("]");
}

async function htmlOf(desk: CommandDesk): Promise<string> {
  const { transcript, options, settings } = desk;
  const secrets = { environment: process.env, servers: settings?.mcpServers };
  const blocks = await withoutSecrets(await blocksOf(desk), secrets);
  const { pageOf } = await import("../ui/page.ts");
  const prompt = blocks.find(({ kind }) => kind === "user");
  const first = prompt?.kind === "user" ? shortLine(prompt.text, LONGEST_TITLE) : "Burin";
  const day = new Date().toLocaleDateString(language(), { dateStyle: "long" });
  const about = [basename(options.root), transcript.model, day].filter((part) => part !== "").join(" · ");
  return pageOf({ title: transcript.name || first, about, language: language() }, blocks);
}
