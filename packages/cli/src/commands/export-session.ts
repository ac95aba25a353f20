import { rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Message, messageOf, withoutSecrets } from "@burin/core";
import { say } from "../locales/say.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

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
  const document = /\.html?$/i.test(file) ? htmlOf(history) : `${texts.join("\n\n")}\n`;
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
  const said = isPrompt ? `> ${text.replaceAll("\n", "\n> ")}` : text;
  return [said, ...calls].filter((part) => part !== "").join("\n\n");
}

function textPartsOf({ parts }: Message): string[] {
  return parts.flatMap(({ text, thought }) => (text === undefined || thought ? [] : [text]));
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

function htmlOf(history: readonly Message[]): string {
  const blocks = history.map((message) => {
    const isPrompt = message.role === "user" && textPartsOf(message).length > 0;
    return `<section class="${isPrompt ? "you" : message.role}"><pre>${escaped(markdownOf(message))}</pre></section>`;
  });
  const style =
    "body{max-width:60rem;margin:2rem auto;font-family:system-ui}pre{white-space:pre-wrap}.you{font-weight:bold}";
  return `<!doctype html>\n<meta charset="utf-8">\n<title>Burin</title>\n<style>${style}</style>\n${blocks.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
