import { appendFileSync } from "node:fs";
import { basename, join } from "node:path";
import { changeSettings, loadSettings, makeFolders, openGrants, readText, writeSession } from "@burin/core";
import { type Found, type FoundSession, fields, list } from "./found.ts";
import { eventsOf } from "./talk-events.ts";

export interface OfferedSession extends FoundSession {
  /** The other agent's id for it. */
  readonly of: string;
  /** The real path of its folder. */
  readonly root: string;
  readonly prompt: string;
  /** The time of its last message. */
  readonly at: string;
  readonly isKnown: boolean;
}

export interface Offer {
  readonly from: string;
  /** The agent's name for users, and its folder. */
  readonly name: string;
  readonly folder: string;
  readonly found: Found;
  readonly sessions: readonly OfferedSession[];
}

interface Ours {
  readonly home: string;
  readonly root: string;
}

const MOST_BYTES = 16 * 1024 * 1024;

/** Adds to the user's data; existing data stays as it is. */
export async function takeOver(offer: Offer, ours: Ours): Promise<void> {
  const { found } = offer;
  makeFolders(ours.home);
  // Only the user's own settings: no project is in this folder.
  const { settings } = await loadSettings({ home: ours.home, root: ours.home });
  const file = join(ours.home, "settings.json");
  const set = async (path: readonly string[], value: unknown) => {
    try {
      await changeSettings(file, path, value);
    } catch (error) {
      found.leave(path.join("."), error);
    }
  };
  for (const key of ["allow", "ask", "deny"] as const) {
    const rules = found.rules.filter((one) => one.list === key && !one.isOfProject).map(({ rule }) => rule);
    const all = [...new Set([...settings.permissions[key], ...rules])];
    if (all.length > settings.permissions[key].length) await set(["permissions", key], all);
  }
  const granted = found.rules.filter(({ isOfProject }) => isOfProject).map(({ rule }) => rule);
  if (granted.length > 0) await (await openGrants(ours.home)).add(granted, ours.root);
  for (const { alias, definition } of found.servers) {
    if (settings.mcpServers[alias] === undefined) await set(["mcpServers", alias], definition);
    else found.leave(`MCP server ${alias}`, "your settings have one of that name");
  }
  for (const { path, value } of found.settings) {
    if (isUnset(settings, path)) await set(path, value);
    else found.leave(path.join("."), "your settings say something else");
  }
  takeMemories(offer, join(ours.home, basename(settings.context.fileNames[0] ?? "AGENTS.md")));
  for (const { id, of, root, read } of offer.sessions) {
    const events = eventsOf(read(), { id, root, from: `session ${of} of ${offer.name}` });
    await writeSession({ home: ours.home, root, id, events, environment: process.env });
  }
}

function isUnset(settings: object, path: readonly string[]): boolean {
  let value: unknown = settings;
  for (const key of path) value = fields(value)[key];
  return Array.isArray(value) ? list(value).length === 0 : fields(value).name === undefined;
}

/** A text that was imported before is not added again. */
function takeMemories({ name, found }: Offer, file: string): void {
  for (const { text } of found.memories) {
    const before = readText(file, MOST_BYTES) ?? "";
    const words = text.trim();
    if (words === "" || before.includes(words)) continue;
    const gap = before === "" ? "" : `${before.endsWith("\n") ? "" : "\n"}\n`;
    appendFileSync(file, `${gap}<!-- from ${name} -->\n\n${words}\n`, { mode: 0o600 });
  }
}
