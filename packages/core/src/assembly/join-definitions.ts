import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CustomCommand } from "../agent/custom-commands.ts";

/** Skills and commands of a person, and of the project where it is trusted. */
export interface Definitions {
  /** What the model is told of the skills; null without any. */
  readonly skills: string | null;
  readonly commands: readonly CustomCommand[];
  readonly problems: readonly string[];
}

/** Reads them when they are asked for, once. */
export function definitionsIn(places: readonly string[]): () => Promise<Definitions> {
  let reading: Promise<Definitions> | null = null;
  return () => {
    reading ??= readDefinitions(places);
    return reading;
  };
}

/** Code is loaded only for what there is. */
async function readDefinitions(places: readonly string[]): Promise<Definitions> {
  const there = (name: string) =>
    places.map((place) => join(place, name)).filter((folder) => existsSync(folder));
  const [skills, commands] = await Promise.all([
    readSkills(there("skills")),
    readCommands(there("commands")),
  ]);
  return {
    skills: skills.text,
    commands: commands.found,
    problems: [...skills.problems, ...commands.problems],
  };
}

async function readSkills(folders: readonly string[]) {
  if (folders.length === 0) return { text: null, problems: [] };
  const { skillsIn, skillsText } = await import("../agent/skills.ts");
  const { found, problems } = await skillsIn(folders);
  return { text: found.length > 0 ? skillsText(found) : null, problems };
}

async function readCommands(folders: readonly string[]) {
  if (folders.length === 0) return { found: [], problems: [] };
  const { customCommandsIn } = await import("../agent/custom-commands.ts");
  return customCommandsIn(folders);
}
