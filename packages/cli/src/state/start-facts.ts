import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { readText, resolveContextFileNames, type Settings, withFallback } from "@burin/core/internal";
import { say } from "../locales/say.ts";
import type { CommonOptions } from "../request/options.ts";

const MAX_BYTES = 256 * 1024;
const LOCKS = [
  ["pnpm-lock.yaml", "pnpm test"],
  ["yarn.lock", "yarn test"],
  ["bun.lock", "bun run test"],
] as const;

/** What is known at a start. What is not known yet is absent, and its place stays empty. */
export interface StartFacts {
  readonly version: string;
  readonly folder: string;
  readonly branch?: string | undefined;
  /** How many files differ from the last commit. */
  readonly changes?: number | undefined;
  /** The command that runs the tests. */
  readonly tests?: string | undefined;
  /** The file of instructions; null when there is none. */
  readonly context?: string | null | undefined;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
  /** Prompts that fit this project; their numbers send them. */
  readonly suggestions?: readonly string[] | undefined;
}

/** What of the app tells it. */
interface FactsOptions {
  readonly options: CommonOptions;
  readonly settings: Settings | null;
  readonly modelName: string | null;
}

/** What is known without asking git: of the settings, and of the project's own files. Nothing is run. */
export function collectKnownFacts({
  options,
  settings,
  modelName,
}: FactsOptions): Omit<StartFacts, "version"> {
  const { root } = options;
  const mode = options.approvalMode ?? settings?.approvalMode ?? "default";
  const names = resolveContextFileNames(settings?.context.fileNames ?? [], root);
  return {
    folder: shortenFolder(root),
    tests: findTestCommand(root),
    context: names.find((name) => existsSync(join(root, name))) ?? null,
    model: modelName ?? undefined,
    mode: modelName === null ? undefined : say(`mode.short.${mode}`),
  };
}

/** The prompts to begin with, the most fitting first. */
export function listSuggestions({ changes = 0, tests, context }: StartFacts): string[] {
  const all = [
    changes > 0 && say("suggest.review"),
    context === null && say("suggest.init"),
    say("suggest.explain"),
    tests !== undefined && say("suggest.tests"),
    say("suggest.improve"),
  ];
  return all.filter((text) => text !== false).slice(0, 3);
}

/** As users write it: with ~ for their home. */
function shortenFolder(root: string): string {
  const below = relative(homedir(), root);
  return below !== "" && !below.startsWith("..") && !below.includes(":") ? join("~", below) : root;
}

/** How many files git names; undefined when it does not say. The last line may count those that were left out. */
export function countLines(text: string | null): number | undefined {
  const lines = text?.split("\n").filter((line) => line !== "");
  const [, more] = /^and (\d+|many) more$/.exec(lines?.at(-1) ?? "") ?? [];
  if (lines === undefined || more === "many") return undefined;
  return more === undefined ? lines.length : lines.length - 1 + Number(more);
}

/** The command that runs a project's tests, as its own files say. */
function findTestCommand(root: string): string | undefined {
  const text = withFallback(null, () => readText(join(root, "package.json"), MAX_BYTES)) ?? "{}";
  const script: unknown = withFallback(undefined, () => JSON.parse(text).scripts?.test);
  if (typeof script === "string" && !script.includes("no test specified"))
    return LOCKS.find(([lock]) => existsSync(join(root, lock)))?.[1] ?? "npm test";
  const has = (...names: readonly string[]) => names.some((name) => existsSync(join(root, name)));
  if (has("Cargo.toml")) return "cargo test";
  if (has("go.mod")) return "go test ./...";
  if (has("pytest.ini", "conftest.py", "tox.ini")) return "pytest";
  const makefile = withFallback(null, () => readText(join(root, "Makefile"), MAX_BYTES)) ?? "";
  return /^test:/m.test(makefile) ? "make test" : undefined;
}
