import { join } from "node:path";
import { describeError, readText, resolveBurinHome, withFallback } from "@burin/core/internal";
import { say } from "../locales/say.ts";

/** The actions that a key can have besides editing, with the default key of each. */
export const ACTION_KEYS = {
  palette: "ctrl+p",
  results: "ctrl+o",
  thoughts: "ctrl+t",
  search: "ctrl+r",
  editor: "ctrl+g",
  background: "ctrl+b",
  image: "ctrl+v",
  beside: "ctrl+s",
  mode: "shift+tab",
  redraw: "ctrl+l",
  takeBack: "alt+up",
  stop: "ctrl+z",
} as const;

/** An example of the user's key bindings file. */
export const EXAMPLE = '{ "ctrl+k": "palette", "alt+r": "/resume", "ctrl+s": null }';

export type KeyAction = keyof typeof ACTION_KEYS;

/** What a key does: an action, a command such as `/resume`, or nothing (null). */
export type KeyUse = KeyAction | `/${string}` | null;

const DEFAULT_USES = new Map(
  Object.entries(ACTION_KEYS).map(([action, key]) => [key as string, action as KeyAction]),
);
const NAMED = "tab|up|down|left|right|home|end|pageup|pagedown|insert|delete|backspace|space|enter|escape";
const KEY = new RegExp(`^(?:ctrl\\+)?(?:alt\\+)?(?:shift\\+)?(?:${NAMED}|[!-*,-~])$`);
const MAX_BYTES = 64 * 1024;
/** Keys that cannot be rebound because they must always lead out, and the keys that terminals send for them. */
const KEPT = new Set(["enter", "escape", "tab", "ctrl+c", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+["]);

/** What each key does: the defaults, changed by the user's own file. */
export class KeyBindings {
  readonly own: ReadonlyMap<string, KeyUse>;

  constructor(own: ReadonlyMap<string, KeyUse> = new Map()) {
    this.own = own;
  }

  /** Returns what a key does; undefined for a key that edits the prompt or means nothing. */
  findUse(key: string): KeyUse | undefined {
    return this.own.has(key) ? this.own.get(key) : DEFAULT_USES.get(key);
  }

  /** Returns the keys with this use, the user's own first. */
  listKeys(use: string): string[] {
    const own = [...this.own].flatMap(([key, its]) => (its === use ? [key] : []));
    const usual = [...DEFAULT_USES].flatMap(([key, its]) => (its === use && !this.own.has(key) ? [key] : []));
    return [...own, ...usual];
  }
}

/** Reads the user's own key bindings, which may run these commands. Each error names the file. */
export async function readOwnKeys(
  commands: () => Promise<readonly string[]>,
): Promise<ReturnType<typeof readKeyBindings>> {
  const file = join(resolveBurinHome(process.env), "keybindings.json");
  const text = withFallback(null, () => readText(file, MAX_BYTES));
  if (text === null) return { bindings: new KeyBindings(), faults: [] };
  const { bindings, faults } = readKeyBindings(text, await commands());
  return { bindings, faults: faults.map((fault) => `${file}: ${fault}`) };
}

/** Parses `{"ctrl+k": "palette", "alt+r": "/resume", "ctrl+s": null}`. Leaves out and reports invalid entries. */
export function readKeyBindings(text: string, commands: readonly string[]) {
  const own = new Map<string, KeyUse>();
  const faults: string[] = [];
  let entries: [string, unknown][] = [];
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === "object" && read !== null && !Array.isArray(read)) entries = Object.entries(read);
    else faults.push(say("keys.noObject", { example: EXAMPLE }));
  } catch (error) {
    faults.push(describeError(error));
  }
  for (const [written, use] of entries) {
    const key = normalizeKey(written);
    const isText = !/[+]/.test(key) && key.length === 1;
    if (!KEY.test(key) || isText) faults.push(say("keys.unknownKey", { key: written }));
    else if (KEPT.has(key)) faults.push(say("keys.kept", { key: written }));
    else if (isUse(use, commands)) own.set(key, use);
    else {
      const known = [...Object.keys(ACTION_KEYS), "/…"].join(", ");
      faults.push(say("keys.unknownUse", { key: written, use: String(use), known }));
    }
  }
  return { bindings: new KeyBindings(own), faults };
}

function isUse(use: unknown, commands: readonly string[]): use is KeyUse {
  if (use === null) return true;
  if (typeof use !== "string") return false;
  return Object.hasOwn(ACTION_KEYS, use) || commands.includes(/^\/(\S+)/.exec(use)?.[1] ?? "");
}

/** Normalises a key's name: lower case, with the modifiers in the order that the terminal's keys use. */
function normalizeKey(written: string): string {
  const parts = written.trim().toLowerCase().split("+");
  const key = parts.pop() ?? "";
  const names = new Set(parts.map((part) => (part === "option" || part === "meta" ? "alt" : part)));
  const known = ["ctrl", "alt", "shift"].filter((name) => names.delete(name));
  return [...known, ...names, key === "esc" ? "escape" : key].join("+");
}
