import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root as top } from "./project.ts";

/** Records that the programs themselves have written, of one prompt with two calls side by side. */
export const RECORDS = fileURLToPath(new URL("other-agents/", import.meta.url));
export let root: string;

/** A project in a home of its own. */
beforeEach(() => {
  put("project/a.txt", "one\ntwo\n");
  root = join(top, "project");
});

const slug = () => root.replace(/[^A-Za-z0-9]/g, "-");
export const ID = "01a202ee-14e9-7e32-b9a8-827ea91d20a0";
/** Where each of them keeps its records. */
export const PLACES = {
  claude: () => `.claude/projects/${slug()}/${ID}.jsonl`,
  codex: () => `.codex/sessions/2026/11/22/rollout-2026-11-22T11-04-47-${ID}.jsonl`,
  gemini: () => `.gemini/tmp/project/chats/session-2026-11-22T11-04-d3b05731.jsonl`,
  qwen: () => `.qwen/projects/${slug()}/chats/${ID}.jsonl`,
};
export type Agent = keyof typeof PLACES;

export async function putRecord(agent: Agent): Promise<void> {
  const text = await readFile(join(RECORDS, `${agent}.jsonl`), "utf8");
  put(PLACES[agent](), text.replaceAll("/ROOT", root));
  if (agent === "gemini") put(".gemini/projects.json", { projects: { [root]: "project" } });
}

export const HOME = () => ({ HOME: top, BURIN_HOME: join(top, "burin") });
export const run = (...args: string[]) => burin(args, { cwd: root, env: HOME() });
export const importFrom = (agent: Agent, ...more: string[]) =>
  run("import", "--from", agent, "--apply", ...more);
export const readOurs = async (name: string) => readFile(join(top, "burin", name), "utf8");

export async function continueSession(...args: string[]) {
  const env = { ...HOME(), ...(await modelEnv({ text: "Going on." })) };
  const ended = await burin(args, { cwd: root, env });
  expect(server.problems).toEqual([]);
  return { ended, messages: server.requests[0]?.body.messages as Message[] };
}

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** Returns a hash of all files below a folder and of their contents. */
export async function hashFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`${file}\n`).update(await readFile(file));
  return hash.digest("hex");
}
