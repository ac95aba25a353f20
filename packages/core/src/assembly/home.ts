import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Machine } from "@burin/commands/machine";
import { nodeMachine } from "@burin/commands/node-machine";
import type { EnvironmentRules } from "@burin/commands/processes/child-environment";
import { type ApprovalMode, startMode } from "@burin/contract/approval-mode";
import { once } from "@burin/contract/async/once";
import { mergeSettings, type Settings } from "@burin/contract/settings/settings";
import { realDirectory } from "@burin/files/workspace/node-workspace";
import { variableOf } from "@burin/models/keys/key-variable";
import { parseRule, type Rules } from "@burin/shell-judge";
import type { DefinitionPlace, Definitions } from "../agent/definitions.ts";
import type { Secrets } from "../session/log/redactor.ts";
import { assertRules, burinHome } from "../settings/load-settings.ts";
import { SHARED_SKILLS } from "../settings/shared-skills.ts";
import type { ToolboxOptions } from "./options.ts";

/** Where a toolbox or a session works and by which rules: resolved once, at the door, and passed on in parts. */
export interface Home {
  /** The folder that all work stays in; on this computer its real path. */
  readonly root: string;
  readonly machine: Machine;
  readonly environment: NodeJS.ProcessEnv;
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly folder: string;
  /** Removes the folder if it is a temporary one. */
  readonly close: () => Promise<void>;
  readonly settings: Settings;
  readonly rules: Rules;
  /** What is not written anywhere. */
  readonly secrets: Secrets;
  /** Which variables child processes must not get, with the exceptions. */
  readonly variables: EnvironmentRules;
  /** The definitions of the user, and of the root if it is trusted: read once, at the first call. */
  readonly definitions: () => Promise<Definitions>;
  /** The folders of the user's own skills, which tools may read. */
  readonly skillFolders: readonly string[];
}

export function resolveHome(options: ToolboxOptions): Home {
  const { machine = nodeMachine, home } = options;
  const environment = environmentOf(options);
  const isTemporary = home === false;
  const settings = mergeSettings([options.settings ?? {}]);
  assertRules(settings);
  const root = options.machine === undefined ? realDirectory(options.root) : options.root;
  const folder = burinHome(environment);
  const { HOME: top = environment.USERPROFILE ?? "" } = environment;
  // With a relative path the project's own skills would count as the user's.
  const own = isAbsolute(top) ? placesIn(top, folder) : [{ folder, hasOnlySkills: false }];
  const places = isTemporary ? [] : own;
  const { allow, ask, deny } = settings.permissions;
  const names = keyVariables(settings);
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
      definitionsIn([...places, ...(options.isTrusted ? placesIn(root, ".burin") : [])]),
    ),
    skillFolders: places.map((place) => join(place.folder, "skills")),
  };
}

/** A name that nobody can guess; whatever writes there makes the folder, for its user alone. */
function environmentOf({ environment = process.env, home }: ToolboxOptions): NodeJS.ProcessEnv {
  if (home === undefined) return environment;
  if (home !== false) return { ...environment, BURIN_HOME: resolve(home) };
  return {
    ...environment,
    BURIN_HOME: join(tmpdir(), `burin-${crypto.randomUUID()}`),
    BURIN_KEYCHAIN: "off",
  };
}

/** The agent's own folder and those of skills that all agents share; later ones win. */
function placesIn(top: string, own: string): DefinitionPlace[] {
  const shared = SHARED_SKILLS.map((name) => ({ folder: join(top, dirname(name)), hasOnlySkills: true }));
  return [...shared, { folder: resolve(top, own), hasOnlySkills: false }];
}

/** Loads code only if there is something to read. */
async function definitionsIn(places: readonly DefinitionPlace[]): Promise<Definitions> {
  const folders = places.flatMap(({ folder }) =>
    ["agents", "skills", "commands"].map((kind) => join(folder, kind)),
  );
  if (!folders.some((folder) => existsSync(folder)))
    return { subagents: [], skills: [], skillsText: null, commands: [], problems: [] };
  return (await import("../agent/definitions.ts")).readDefinitions(places);
}

/** The variables that settings name for the keys of services. */
function keyVariables({ model, models, web: { search } }: Settings): string[] {
  const named = [model, ...Object.values(models), ...(model.fallbacks ?? [])];
  const keys = named.flatMap((one) => (typeof one === "string" ? [] : (variableOf(one) ?? [])));
  return search?.apiKeyEnv === undefined ? keys : [...keys, search.apiKeyEnv];
}

/** How much runs without asking at the start of a session or toolbox. */
export function chooseMode(
  { approvalMode }: Pick<ToolboxOptions, "approvalMode">,
  settings: Pick<Settings, "approvalMode" | "managed">,
): ApprovalMode {
  return approvalMode ?? settings.approvalMode ?? startMode(settings.managed?.approvalModes);
}
