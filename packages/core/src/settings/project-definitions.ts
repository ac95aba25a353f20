import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What a folder brings for the agent to use beside its settings, one sentence without a subject for each kind. */
export async function definitionEffects(folder: string): Promise<string[]> {
  const [agents, commands, skills] = await Promise.all([
    markdownIn(join(folder, "agents")),
    markdownIn(join(folder, "commands")),
    namesIn(join(folder, "skills")),
  ]);
  return [
    ...sentence("use its subagents", agents),
    ...sentence("tell the model of its skills", skills),
    ...sentence("offer its commands", commands),
  ];
}

async function markdownIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

function sentence(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}: ${names.map((name) => JSON.stringify(name)).join(", ")}`];
}
