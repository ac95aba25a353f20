import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Machine } from "@burin/commands/machine";
import { nodeMachine } from "@burin/commands/node-machine";
import type { EnvironmentRules } from "@burin/commands/processes/child-environment";
import { type ApprovalMode, chooseStartMode } from "@burin/contract/approval-mode";
import { once } from "@burin/contract/async/once";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { mergeSettings, type Settings } from "@burin/contract/settings/settings";
import { resolveDirectory } from "@burin/files/workspace/node-workspace";
import { findVariable } from "@burin/models/keys/key-variable";
import { parseRule, type Rule, type Rules } from "@burin/shell-judge";
import type { DefinitionFolder, Definitions } from "../agent/definitions.ts";
import type { Secrets } from "../session/log/redactor.ts";
import { assertRules, resolveBurinHome } from "../settings/load-settings.ts";
import { SHARED_SKILLS } from "../settings/shared-skills.ts";
import type { ToolboxOptions } from "./options.ts";

/** Where a toolbox or a session works and under which rules: resolved once, at the entry point, and passed on. */
export interface Home {
  /** The folder in which all work happens; on this computer, its real path. */
  readonly root: string;
  readonly machine: Machine;
  readonly environment: NodeJS.ProcessEnv;
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly folder: string;
  /** Removes the folder if it is a temporary one. */
  readonly close: () => Promise<void>;
  readonly settings: Settings;
  readonly rules: Rules;
  /** Secrets that must not be written anywhere. */
  readonly secrets: Secrets;
  /** Which environment variables child processes must not get, and the exceptions. */
  readonly variables: EnvironmentRules;
  /** Returns the user's definitions, and those of the root if it is trusted. They are read once, on the first call. */
  readonly definitions: () => Promise<Definitions>;
  /** The folders of the user's own skills, which tools may read. */
  readonly skillFolders: readonly string[];
}

export function resolveHome(options: ToolboxOptions): Home {
  const { machine = nodeMachine, home } = options;
  const environment = resolveEnvironment(options);
  const isTemporary = home === false;
  const settings = mergeSettings([options.settings ?? {}]);
  assertRules(settings);
  const root = options.machine === undefined ? resolveDirectory(options.root) : options.root;
  const folder = resolveBurinHome(environment);
  const { HOME: top = environment.USERPROFILE ?? "" } = environment;
  // With a relative path, the project's own skills would count as the user's.
  const own = isAbsolute(top) ? listDefinitionFolders(top, folder) : [{ folder, hasOnlySkills: false }];
  const places = isTemporary ? [] : own;
  const { allow, ask, deny } = settings.permissions;
  const names = listKeyVariables(settings);
  return {
    root,
    machine,
    environment,
    folder,
    close: async () => {
      if (isTemporary) rmSync(folder, { recursive: true, force: true });
    },
    settings,
    rules: { allow: allow.map(parseRule), ask: ask.map(parseRule), deny: deny.map(parseRule) },
    secrets: { environment, names, servers: settings.mcpServers },
    variables: { pass: settings.shell.passEnvironment, secret: names },
    definitions: once(() =>
      loadDefinitions([...places, ...(options.isTrusted ? listDefinitionFolders(root, ".burin") : [])]),
    ),
    skillFolders: places.map((place) => join(place.folder, "skills")),
  };
}

/** Returns the environment with BURIN_HOME. A temporary one has a name that nobody can guess. */
function resolveEnvironment({ environment = process.env, home }: ToolboxOptions): NodeJS.ProcessEnv {
  if (home === undefined) return environment;
  if (home !== false) return { ...environment, BURIN_HOME: resolve(home) };
  return {
    ...environment,
    BURIN_HOME: join(tmpdir(), `burin-${crypto.randomUUID()}`),
    BURIN_KEYCHAIN: "off",
  };
}

/** Lists the agent's own folder and the folders of skills that all agents share. Later ones win. */
function listDefinitionFolders(top: string, own: string): DefinitionFolder[] {
  const shared = SHARED_SKILLS.map((name) => ({ folder: join(top, dirname(name)), hasOnlySkills: true }));
  return [...shared, { folder: resolve(top, own), hasOnlySkills: false }];
}

/** Reads the definitions. Loads the code for it only if there is something to read. */
async function loadDefinitions(places: readonly DefinitionFolder[]): Promise<Definitions> {
  const folders = places.flatMap(({ folder }) =>
    ["agents", "skills", "commands"].map((kind) => join(folder, kind)),
  );
  if (!folders.some((folder) => existsSync(folder)))
    return { subagents: [], skills: [], skillsText: null, commands: [], problems: [] };
  return (await import("../agent/definitions.ts")).readDefinitions(places);
}

/** Returns the environment variables that settings name for the keys of services. */
function listKeyVariables({ model, models, web: { search } }: Settings): string[] {
  const named = [model, ...Object.values(models), ...(model.fallbacks ?? [])];
  const keys = named.flatMap((one) => (typeof one === "string" ? [] : (findVariable(one) ?? [])));
  return search?.apiKeyEnv === undefined ? keys : [...keys, search.apiKeyEnv];
}

/** Returns the approval mode at the start of a session or toolbox. */
export function chooseMode(
  { approvalMode }: Pick<ToolboxOptions, "approvalMode">,
  settings: Pick<Settings, "approvalMode" | "managed">,
): ApprovalMode {
  return approvalMode ?? settings.approvalMode ?? chooseStartMode(settings.managed?.approvalModes);
}

const READING_TOOLS = ["read_file", "read_many_files", "search_file_content"];

/** Returns which files the workspaces of a session may use. */
export function buildWorkspaceAccess({ folder, environment, settings, rules, skillFolders }: Home) {
  return {
    ...settings.files,
    environment,
    home: folder,
    denied: listUnreadablePaths(rules.deny),
    readable: [join(folder, "output"), ...skillFolders.filter((one) => existsSync(one))],
    // One list: subagents read where the user has opened a folder for the session.
    opened: [] as string[],
    closed: [folder, ...settings.sandbox.hide],
  };
}

/** Returns the paths that no tool may read: a deny rule for one reading tool closes the file to every tool. */
function listUnreadablePaths(deny: readonly Rule[]): string[] {
  return deny.flatMap(({ tool, pattern }) => {
    const matches = createGlobMatcher(tool, { caseSensitive: true });
    return pattern !== undefined && READING_TOOLS.some(matches) ? [pattern] : [];
  });
}
