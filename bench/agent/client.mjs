// One whole turn of many reads, by the agent or by the least that could do it; prints what it cost this process.
import { readFile } from "node:fs/promises";

const BUILT = new URL("../../packages/core/dist/sessions.js", import.meta.url);
const [kind = "", url = "", root = "", home = "", contextWindow = "0"] = process.argv.slice(2);

/** The same requests and reads with nothing around them. */
async function runBareClient() {
  /** @type {object[]} */
  const messages = [{ role: "user", content: "Read." }];
  const tools = [
    { type: "function", function: { name: "read_file", description: "", parameters: { type: "object" } } },
  ];
  for (;;) {
    const body = JSON.stringify({ model: "m", tools, messages, stream: true });
    const answer = await fetch(`${url}/chat/completions`, { method: "POST", body });
    const message = readMessage(await answer.text());
    messages.push(message);
    if (!message.tool_calls) return;
    for (const call of message.tool_calls) {
      const { absolute_path: path } = JSON.parse(call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content: await readFile(path, "utf8") });
    }
  }
}

/** @param {string} stream */
function readMessage(stream) {
  /** @type {any} */
  const message = { role: "assistant", content: "" };
  for (const line of stream.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
    if (delta?.content) message.content += delta.content;
    if (delta?.tool_calls) message.tool_calls = delta.tool_calls;
  }
  return message;
}

async function runBurinClient() {
  const { createSession, openModel } = /** @type {typeof import("@burin/core/sessions")} */ (
    await import(BUILT.href)
  );
  const session = createSession({
    root,
    model: openModel({ provider: "openai", name: "m", baseUrl: url }),
    maxTurns: 1_000_000,
    settings: { model: { contextWindow: Number(contextWindow) } },
    environment: { ...process.env, BURIN_HOME: home },
  });
  for await (const event of session.run("Read.")) {
    if (event.type === "done" && event.status !== "success") throw new Error(JSON.stringify(event));
  }
  await session.close();
}

const before = process.cpuUsage();
await (kind === "bare" ? runBareClient() : runBurinClient());
const { user, system } = process.cpuUsage(before);
const figures = { cpuMs: (user + system) / 1000, peakMb: process.resourceUsage().maxRSS / 1024 };
console.log(JSON.stringify(figures));
