import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProcess } from "@burin/commands/processes/process-table";
import {
  createToolbox,
  DiscoveredTool,
  type SettingsInput,
  type Toolbox,
  type ToolboxOptions,
} from "@burin/core";
import { afterEach, beforeEach } from "vitest";

/** A folder for each test, of a file that has called `makeProjects`, with a Burin home beside it. */
export const project = { top: "", root: "" };
/** What was opened in it. */
const open: { close(): Promise<void> }[] = [];

export function makeProjects(): void {
  beforeEach(async () => {
    project.top = await realpath(await mkdtemp(join(tmpdir(), "burin-discovery-")));
    project.root = join(project.top, "project");
    await mkdir(project.root);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await rm(project.top, { recursive: true });
  });
}

export const ADD = {
  name: "add",
  description: "Adds numbers.",
  parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
};

/** A call command that prints what it was given. */
const ECHO = `
import { readFileSync } from "node:fs";
const input = readFileSync(0, "utf8");
const { OPENAI_API_KEY: key } = process.env;
console.log(JSON.stringify({ argv: process.argv.slice(2), input, cwd: process.cwd(), key }));
`;

/** Writes what the discovery command prints, and the call command's script. Returns the settings for both. */
export async function writeDiscovery(declared: unknown, call = ECHO) {
  const text = typeof declared === "string" ? declared : JSON.stringify(declared);
  await writeFile(join(project.root, "tools.json"), text);
  await writeFile(join(project.root, "call.mjs"), call);
  const toolCallCommand = `"${process.execPath}" call.mjs`;
  return { tools: { toolDiscoveryCommand: "cat tools.json", toolCallCommand } };
}

/** Closes this after the test. */
export function closeLater<T extends { close(): Promise<void> }>(opened: T): T {
  open.push(opened);
  return opened;
}

export function toolbox(settings: SettingsInput, options: Partial<ToolboxOptions> = {}): Toolbox {
  const environment = { ...process.env, BURIN_HOME: join(project.top, "home"), OPENAI_API_KEY: "sk-canary" };
  const { root } = project;
  return closeLater(createToolbox({ root, settings, environment, approvalMode: "yolo", ...options }));
}

export function listDiscovered(box: Toolbox): string[] {
  return box.registry.getAllTools().flatMap((one) => (one instanceof DiscoveredTool ? one.name : []));
}

/** Returns everything that went wrong with the sources, once they have answered. */
export async function readComplaints(box: Toolbox): Promise<string> {
  return (await box.ready()).map(({ message }) => message).join("\n");
}

export async function readWhenThere(file: string): Promise<string> {
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text !== "") return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Those that still run; one that has ended and that nobody has looked after yet does not. */
export function living(pids: readonly number[]): number[] {
  return pids.filter((pid) => findProcess(pid)?.isZombie === false);
}
