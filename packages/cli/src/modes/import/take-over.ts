import { basename, join } from "node:path";
import {
  changeHomeFile,
  changeSettings,
  loadSettings,
  makeFolders,
  messageOf,
  openGrants,
  writeSession,
} from "@burin/core";
import { Found, type FoundSession, fields, list } from "./found.ts";
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

/** Adds to the user's data; existing data stays as it is. Returns what was added, and what was not. */
export async function takeOver(offer: Offer, { home, root }: Ours): Promise<Offer> {
  const { found, name } = offer;
  makeFolders(home);
  // Only the user's own settings: no project is in this folder.
  const { settings } = await loadSettings({ home, root: home });
  const taken = new Found();
  taken.left.push(...found.left);
  const write: Write = async (what, work, keep) => {
    try {
      await work();
      keep();
    } catch (error) {
      taken.failed.push({ what, why: messageOf(error) });
    }
  };
  const file = join(home, "settings.json");
  for (const key of ["allow", "ask", "deny"] as const) {
    const added = found.rules.filter((one) => one.list === key && !one.isOfProject);
    const all = [...new Set([...settings.permissions[key], ...added.map(({ rule }) => rule)])];
    const isNew = all.length > settings.permissions[key].length;
    const add = async () => isNew && changeSettings(file, ["permissions", key], all);
    await write(`permissions.${key}`, add, () => taken.rules.push(...added));
  }
  const granted = found.rules.filter(({ isOfProject }) => isOfProject);
  const rules = granted.map(({ rule }) => rule);
  const grant = async () => rules.length > 0 && (await openGrants(home)).add(rules, root);
  await write("rules of this folder", grant, () => taken.rules.push(...granted));
  for (const server of found.servers) {
    const what = `MCP server ${server.alias}`;
    const add = () => changeSettings(file, ["mcpServers", server.alias], server.definition);
    if (settings.mcpServers[server.alias] !== undefined)
      taken.leave(what, "your settings have one of that name");
    else await write(what, add, () => taken.servers.push(server));
  }
  for (const setting of found.settings) {
    const what = setting.path.join(".");
    const add = () => changeSettings(file, setting.path, setting.value);
    if (!isUnset(settings, setting.path)) taken.leave(what, "your settings say something else");
    else await write(what, add, () => taken.settings.push(setting));
  }
  const words = join(home, basename(settings.context.fileNames[0] ?? "AGENTS.md"));
  for (const memory of found.memories) {
    const add = () => changeHomeFile(words, (before) => withMemory(before ?? "", memory.text, name));
    await write(memory.file, add, () => taken.memories.push(memory));
  }
  return { ...offer, found: taken, sessions: await takeSessions(offer, home, write) };
}

/** Does the work, and keeps the thing if that succeeded. */
type Write = (what: string, work: () => Promise<unknown>, keep: () => void) => Promise<void>;

async function takeSessions({ sessions, name }: Offer, home: string, write: Write) {
  const taken: OfferedSession[] = [];
  for (const session of sessions) {
    const { id, of, root, read } = session;
    const add = () => {
      const events = eventsOf(read(), { id, root, from: `session ${of} of ${name}` });
      return writeSession({ home, root, id, events, environment: process.env });
    };
    await write(`session ${id}`, add, () => taken.push(session));
  }
  return taken;
}

function isUnset(settings: object, path: readonly string[]): boolean {
  let value: unknown = settings;
  for (const key of path) value = fields(value)[key];
  return Array.isArray(value) ? list(value).length === 0 : fields(value).name === undefined;
}

/** A text that was imported before is not added again. */
function withMemory(before: string, text: string, agent: string): string {
  const words = text.trim();
  if (words === "" || before.includes(words)) return before;
  const gap = before === "" ? "" : `${before.endsWith("\n") ? "" : "\n"}\n`;
  return `${before}${gap}<!-- from ${agent} -->\n\n${words}\n`;
}
