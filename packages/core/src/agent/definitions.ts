import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { APPROVAL_MODES, type ApprovalMode } from "@burin/contract/approval-mode";
import { isRecord, isTooDeep } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import { formatPath } from "@burin/contract/text/shown-path";
import { tryReadEntries } from "@burin/files/disk/disk-looks";
import { readText } from "@burin/files/disk/regular-file";
import { Parser, parse } from "yaml";
import { findBuiltInName } from "../scheduler/unknown-tool.ts";
import type { SubagentDefinition } from "./subagent.ts";

/** A saved prompt that the user calls by its name: `/name words`. */
export interface CustomCommand {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
}

export interface Definitions {
  readonly subagents: readonly SubagentDefinition[];
  readonly skills: readonly Skill[];
  /** The list of skills for the model; null if there are none. */
  readonly skillsText: string | null;
  readonly commands: readonly CustomCommand[];
  /** Sentences about files that could not be used. */
  readonly problems: readonly string[];
}

/** A folder with definitions. In folders of other agents, only skills are read. */
export interface DefinitionFolder {
  readonly folder: string;
  readonly hasOnlySkills: boolean;
}

/** A skill: a folder with a SKILL.md that explains how to do one kind of task. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

/** A definition file: YAML front matter between two lines of dashes, followed by Markdown. */
interface DefinitionFile {
  /** The file name without its extension; for a skill, the name of its folder. */
  readonly name: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const MAX_FILES = 200;
const MAX_BYTES = 256 * 1024;
/** The YAML parser's time grows with the square of the length, and its recursion can crash the process. */
const MAX_FRONT_MATTER = 16 * 1024;
/** The maximum number of levels of the syntax tree, which has a few for each level of the values. */
const MAX_LEVELS = 100;
const MAX_DESCRIPTION = 500;
const NO_DESCRIPTION = "it has no `description`, by which the model would choose it";
const SUBAGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const COMMAND_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** Reads the folders `agents`, `skills` and `commands` in these places. Of equal names, the later one wins. */
export function readDefinitions(places: readonly DefinitionFolder[]): Definitions {
  const problems: string[] = [];
  /** Reads the definitions of one kind. A broken file affects no other; `make` throws what is wrong with it. */
  const readDefinitionsOfKind = <Thing extends { readonly name: string }>(
    kind: "agents" | "skills" | "commands",
    make: (file: DefinitionFile) => Thing,
  ): Thing[] => {
    const found = new Map<string, Thing>();
    const isOfSkills = kind === "skills";
    const folders = places.flatMap((place) => (place.hasOnlySkills && !isOfSkills ? [] : place.folder));
    for (const path of folders.flatMap((folder) => listDefinitionPaths(join(folder, kind), isOfSkills))) {
      try {
        const thing = make(readDefinition(path));
        found.set(thing.name, thing);
      } catch (error) {
        problems.push(`${path} cannot be used: ${describeError(error)}.`);
      }
    }
    return [...found.values()];
  };
  const subagents = readDefinitionsOfKind("agents", readSubagent);
  const skills = readDefinitionsOfKind("skills", readSkill);
  const commands = readDefinitionsOfKind("commands", readCommand);
  return { subagents, skills, skillsText: skills.length > 0 ? listSkills(skills) : null, commands, problems };
}

/** Lists the Markdown files directly in a folder, or for skills the SKILL.md of each folder in it. */
function listDefinitionPaths(folder: string, isOfSkills: boolean): string[] {
  const all = tryReadEntries(folder).map(({ name }) => name);
  const names = all.sort().slice(0, MAX_FILES);
  return isOfSkills
    ? names.map((name) => join(folder, name, "SKILL.md")).filter((path) => existsSync(path))
    : names.filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
}

function readDefinition(path: string): DefinitionFile {
  const file = basename(path, ".md");
  const name = file === "SKILL" ? basename(dirname(path)) : file;
  const text = readText(path, MAX_BYTES) ?? "";
  const match = /\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/my.exec(text);
  if (match === null) return { name, path, fields: {}, body: text.trim() };
  const [whole, matter = ""] = match;
  if (matter.length > MAX_FRONT_MATTER || isTooDeep([...new Parser().parse(matter)], MAX_LEVELS))
    throw new Error("the front matter between the --- lines is too long or nested too deeply");
  const fields: unknown = parse(matter, { maxAliasCount: 0 }) ?? {};
  if (!isRecord(fields))
    throw new Error("the front matter between the --- lines must be a list of `name: value`");
  return { name, path, fields, body: text.slice(whole.length).trim() };
}

function readSkill({ name, path, fields }: DefinitionFile): Skill {
  const { description, name: named } = fields;
  if (typeof description !== "string" || description.trim() === "") throw new Error(NO_DESCRIPTION);
  const line = description.replace(/\s+/g, " ").trim().slice(0, MAX_DESCRIPTION);
  const isNamed = typeof named === "string" && named.trim() !== "";
  return { name: isNamed ? named.trim() : name, description: line, path };
}

function listSkills(skills: readonly Skill[]): string {
  const lines = skills.map(
    ({ name, description, path }) => `- ${formatPath(name)}: ${description} (${formatPath(path)})`,
  );
  const head = "Skills: read the file of one with read_file before you do a task that it is for.";
  return [head, ...lines].join("\n");
}

function readSubagent({ name, fields, body }: DefinitionFile): SubagentDefinition {
  const named = readTextField(fields, "name") ?? name;
  if (!SUBAGENT_NAME.test(named)) throw new Error(`the name "${named}" must be letters, digits, "_" or "-"`);
  const description = readTextField(fields, "description");
  if (description === undefined) throw new Error(NO_DESCRIPTION);
  if (body === "")
    throw new Error("it has no text below the front matter, which would be the subagent's prompt");
  const model = readTextField(fields, "model");
  return {
    name: named,
    description,
    prompt: body,
    tools: readListField(fields, "tools"),
    withoutTools: readListField(fields, "disallowedTools")?.map(resolveToolName),
    model: model === "inherit" ? undefined : model,
    approvalMode: readModeField(fields),
  };
}

function readTextField(fields: DefinitionFile["fields"], key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value.trim() === "") throw new Error(`\`${key}\` must be a text`);
  return value.replace(/\s+/g, " ").trim();
}

/** Reads a YAML list, or names separated by commas. */
function readListField(fields: DefinitionFile["fields"], key: string): string[] | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  const parts: unknown[] =
    typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [null];
  const names = parts.map((part) => (typeof part === "string" ? part.trim() : ""));
  if (names.some((part) => part === "")) throw new Error(`\`${key}\` must be a list of names`);
  return names;
}

/** Claude Code's names of approval modes, used in its subagent files. */
const MODES_ELSEWHERE: Readonly<Record<string, ApprovalMode>> = {
  plan: "plan",
  default: "default",
  manual: "default",
  dontAsk: "default",
  auto: "auto-edit",
  acceptEdits: "auto-edit",
  bypassPermissions: "yolo",
};

/**
 * Translates another agent's name of a tool, such as `Bash` or `mcp__server__tool`, to the name here. A restriction to
 * a part of a tool is dropped, so the name means the whole tool.
 */
function resolveToolName(name: string): string {
  const plain = name.replace(/\(.*\)$/s, "");
  const [, server, tool = "*"] = /^mcp__(.+?)(?:__(.+))?$/.exec(plain) ?? [];
  return server === undefined ? (findBuiltInName(plain) ?? plain) : `${server}__${tool}`;
}

function readModeField(fields: DefinitionFile["fields"]): ApprovalMode | undefined {
  const value = readTextField(fields, "approval-mode") ?? readTextField(fields, "approvalMode");
  const theirs = readTextField(fields, "permissionMode");
  if (value === undefined && theirs !== undefined) {
    if (Object.hasOwn(MODES_ELSEWHERE, theirs)) return MODES_ELSEWHERE[theirs];
    const known = Object.keys(MODES_ELSEWHERE).join(", ");
    throw new Error(`\`permissionMode\` must be one of ${known}, not "${theirs}"`);
  }
  const mode = APPROVAL_MODES.find((known) => known === value);
  if (value !== undefined && mode === undefined) {
    throw new Error(`\`approval-mode\` must be one of ${APPROVAL_MODES.join(", ")}, not "${value}"`);
  }
  return mode;
}

function readCommand({ name, fields, body }: DefinitionFile): CustomCommand {
  if (!COMMAND_NAME.test(name)) throw new Error('the name of a command must be letters, digits, "_" or "-"');
  if (body === "") throw new Error("it contains no prompt");
  const description = typeof fields.description === "string" ? fields.description : "";
  return { name, description, prompt: body };
}

/** Expands `/name words` to the saved prompt. Returns null if there is no such command. */
export function expandCommand(text: string, commands: readonly CustomCommand[]): string | null {
  const [, name = "", rest = ""] = /^\/([A-Za-z0-9_-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = commands.find((known) => known.name === name);
  if (command === undefined) return null;
  const words = splitWords(rest);
  let isUsed = false;
  const prompt = command.prompt.replace(/\$(ARGUMENTS\b|[1-9](?!\d))/g, (_, mark: string) => {
    isUsed = true;
    return mark === "ARGUMENTS" ? rest : (words[Number(mark) - 1] ?? "");
  });
  return isUsed || rest === "" ? prompt : `${prompt}\n\n${rest}`;
}

/** Splits at spaces, except inside quotes. */
function splitWords(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
