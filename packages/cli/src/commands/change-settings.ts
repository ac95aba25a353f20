import { join } from "node:path";
import type { JsonSchema } from "@burin/core";
import { changeSettings, describeError, resolveBurinHome, SETTINGS_SCHEMA } from "@burin/core/internal";
import { say } from "../locales/say.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import type { Choice } from "../ui/choice-list.ts";
import { createInputPanel, openChoicePanel } from "../ui/choice-panel.ts";
import type { CommandDesk } from "./command-desk.ts";

/** One value of a settings file that can be set by itself. */
interface Setting {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
}

/** Stands for the default in the list of values. */
const DEFAULT = "";

/** Stands beside a setting that has neither a value nor a default. */
const NOT_SET = "–";

/** Lists every setting with its value and description. The chosen one is changed in the user's own settings file. */
export function showSettings(desk: CommandDesk, wanted = ""): void {
  const all = listSettings();
  const choices = all.map((setting): Choice => {
    const standard = formatDefault(setting);
    const more = formatValue(readCurrentValue(desk, setting)) || standard;
    const isDefault = ["[]", "{}", standard].includes(more);
    return { value: formatName(setting), more, moreStyle: isDefault ? "dim" : "accent" };
  });
  const findSetting = (name: string): Setting | undefined => all.find((one) => formatName(one) === name);
  const preview = (name: string, width: number): Line[] => {
    const text = [findSetting(name)?.schema.description ?? "", describeDefault(findSetting(name))]
      .join(" ")
      .trim();
    return [[], ...wrapLine([{ text: formatText(text) }], width), []];
  };
  const openSetting = (name: string): void => {
    const setting = findSetting(name);
    if (setting !== undefined) changeSetting(desk, setting);
  };
  const file = resolveSettingsFile();
  openChoicePanel(desk, {
    title: say("settings.title", { file }),
    choices,
    current: wanted,
    chosen: openSetting,
    preview,
  });
}

/** Returns all single values of the schema; of a setting with an older name, only the current one. */
function listSettings(): readonly Setting[] {
  const seen = new Set<unknown>();
  return listLeaves(SETTINGS_SCHEMA, []).filter(({ schema: { description }, path }) => {
    const isNew = description === undefined || !seen.has(description);
    seen.add(description);
    return isNew && path[0] !== "$schema";
  });
}

function listLeaves({ properties = {} }: JsonSchema, path: readonly string[]): Setting[] {
  return Object.entries(properties).flatMap(([name, schema]): Setting[] => {
    if (typeof schema !== "object") return [];
    const below = [...path, name];
    return schema.properties === undefined ? [{ path: below, schema }] : listLeaves(schema, below);
  });
}

function changeSetting(desk: CommandDesk, setting: Setting): void {
  const values = listValues(setting.schema);
  const current = readCurrentValue(desk, setting);
  const title = formatName(setting);
  const showList = (): void => showSettings(desk, title);
  if (values === null) {
    askValue(desk, setting, setting.schema.description ?? "");
    return;
  }
  const choices = [
    ...values.map((value): Choice => ({ value: JSON.stringify(value), label: formatValue(value) })),
    { value: DEFAULT, label: say("settings.default") },
  ];
  const applyText = (text: string): void => {
    void writeSetting(desk, setting, text === DEFAULT ? undefined : JSON.parse(text)).then(showList);
  };
  openChoicePanel(desk, {
    title,
    choices,
    current: JSON.stringify(current),
    chosen: applyText,
    none: showList,
  });
}

/** Asks for a value: a text, a number, or JSON for a list or an object. An empty answer restores the default. */
function askValue(desk: CommandDesk, setting: Setting, words: string): void {
  const { path, schema } = setting;
  const title = formatName(setting);
  const showList = (): void => showSettings(desk, title);
  const isText = schema.type === "string";
  const hint = [words, isText ? "" : say("settings.json"), say("settings.empty")].filter(Boolean).join(" ");
  const value = readCurrentValue(desk, { path, schema });
  const text = value === undefined ? "" : isText ? String(value) : JSON.stringify(value);
  const saveTyped = (typed: string | null): void => {
    if (typed === null) {
      showList();
      return;
    }
    const given = typed === "" ? undefined : isText ? typed : parseValue(typed);
    void writeSetting(desk, setting, given).then((fault) =>
      fault === null ? showList() : askValue(desk, setting, formatText(fault)),
    );
  };
  desk.show(createInputPanel({ title, hint, text, done: saveTyped }));
}

/**
 * Parses a typed value. Text that is not JSON counts as a word, such as `high`; the schema decides whether that is
 * allowed.
 */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Writes the value. Returns why it could not be written, or null. */
async function writeSetting(desk: CommandDesk, setting: Setting, value: unknown): Promise<string | null> {
  const { path } = setting;
  try {
    await changeSettings(resolveSettingsFile(), path, value);
    await desk.applySettings(path);
  } catch (error) {
    return describeError(error);
  }
  const isOverruled =
    value !== undefined && formatValue(readCurrentValue(desk, setting)) !== formatValue(value);
  const isAtOnce = path[0] === "ui";
  const name = formatName(setting);
  if (isOverruled)
    desk.note(say("settings.overruled", { name, value: formatValue(readCurrentValue(desk, setting)) }));
  else
    desk.note(
      say(isAtOnce ? "settings.written" : "settings.later", {
        name,
        value: value === undefined ? say("settings.default") : formatValue(value),
      }),
    );
  return null;
}

function readCurrentValue({ settings }: CommandDesk, { path }: Setting): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    settings,
  );
}

function listValues({ enum: values, type }: JsonSchema): readonly unknown[] | null {
  return values ?? (type === "boolean" ? [true, false] : null);
}

function formatValue(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function describeDefault(setting: Setting | undefined): string {
  const usual = setting?.schema.default;
  return usual === undefined ? "" : say("settings.usual", { value: formatValue(usual) });
}

/** Returns the default: the schema's value, the one that the description names, or the sign for none. */
function formatDefault({ schema: { default: value, description = "" } }: Setting): string {
  return formatValue(value) || (/Default:? (.+?)(?::|\.(?:\s|$))/.exec(description)?.[1] ?? NOT_SET);
}

function formatName({ path }: Setting): string {
  return path.join(".");
}

function resolveSettingsFile(): string {
  return join(resolveBurinHome(process.env), "settings.json");
}
