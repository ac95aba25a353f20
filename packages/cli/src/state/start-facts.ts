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

/** The facts on the start card. A fact that is not known yet is absent, and its place stays empty. */
export interface StartFacts {
  readonly version: string;
  readonly folder: string;
  readonly branch?: string | undefined;
  /** The number of files that differ from the last commit. */
  readonly changes?: number | undefined;
  /** The command that runs the tests. */
  readonly tests?: string | undefined;
  /** The project's instructions file; null if there is none. */
  readonly context?: string | null | undefined;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
  /** Prompts that fit this project. Typing a prompt's number sends it. */
  readonly suggestions?: readonly string[] | undefined;
}

/** What the app knows for the start card. */
interface FactsOptions {
  readonly options: CommonOptions;
  readonly settings: Settings | null;
  readonly modelName: string | null;
}

/** Returns the facts that need no git: from the settings and the project's own files. Runs nothing. */
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

/** Suggests prompts to start with, the best first. */
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

/** Shortens a path as users write it, with ~ for their home. */
function shortenFolder(root: string): string {
  const below = relative(homedir(), root);
  return below !== "" && !below.startsWith("..") && !below.includes(":") ? join("~", below) : root;
}

/** Counts the files that git lists; undefined if not known. The last line may count files that were left out. */
export function countListedFiles(text: string | null): number | undefined {
  const lines = text?.split("\n").filter((line) => line !== "");
  const [, more] = /^and (\d+|many) more$/.exec(lines?.at(-1) ?? "") ?? [];
  if (lines === undefined || more === "many") return undefined;
  return more === undefined ? lines.length : lines.length - 1 + Number(more);
}

/** Returns the command that runs the project's tests, according to its own files. */
function findTestCommand(root: string): string | undefined {
  const text = withFallback(null, () => readText(join(root, "package.json"), MAX_BYTES)) ?? "{}";
  const script: unknown = withFallback(undefined, () => JSON.parse(text).scripts?.test);
  if (typeof script === "string" && !script.includes("no test specified"))
    return LOCKS.find(([lock]) => existsSync(join(root, lock)))?.[1] ?? "npm test";
  const hasAnyFile = (...names: readonly string[]) => names.some((name) => existsSync(join(root, name)));
  if (hasAnyFile("Cargo.toml")) return "cargo test";
  if (hasAnyFile("go.mod")) return "go test ./...";
  if (hasAnyFile("pytest.ini", "conftest.py", "tox.ini")) return "pytest";
  const makefile = withFallback(null, () => readText(join(root, "Makefile"), MAX_BYTES)) ?? "";
  return /^test:/m.test(makefile) ? "make test" : undefined;
}
