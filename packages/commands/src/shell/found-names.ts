import { basename, dirname, join, resolve } from "node:path";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import type { NameSource } from "@burin/shell-judge";
import { buildReadOnlyEnvironment, runGit } from "../git/git-programs.ts";
import { buildHelperPath, findHelper } from "../processes/helper-program.ts";
import { runProgramSync } from "../processes/wait-for-output.ts";

const MAX_LIST_BYTES = 1024 * 1024;
const LONGEST_MS = 5000;

interface FindNamesOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns the absolute paths that a source gives in a folder. Runs nothing but find and git, which only look. */
export function findNames(source: NameSource, { folder, environment }: FindNamesOptions): readonly string[] {
  switch (source.kind) {
    case "word":
      return source.isPattern ? expandShellPattern(folder, source.value) : [resolve(folder, source.value)];
    case "file":
      return readNames(tryReadBytes(resolve(folder, source.path), MAX_LIST_BYTES)?.toString() ?? "", folder);
    case "git": {
      const env = {
        ...buildReadOnlyEnvironment({ isSandboxed: false }),
        ...buildHelperEnvironment(environment),
      };
      const asking = { git: findHelper("git", environment.PATH), cwd: folder, env };
      return readNames(runGit(source.words, asking).output.toString(), folder);
    }
    case "find":
      return runFind(source, { folder, environment });
  }
}

function runFind(
  { starts, words }: Extract<NameSource, { kind: "find" }>,
  { folder, environment }: FindNamesOptions,
): readonly string[] {
  const find = findHelper("find", environment.PATH);
  const places = starts.flatMap(({ value, isPattern }) =>
    isPattern ? expandShellPattern(folder, value) : [value],
  );
  if (find === null || (places.length === 0 && starts.length > 0)) return [];
  const env = { ...buildHelperEnvironment(environment), LC_ALL: "C.UTF-8" };
  // A folder that find cannot read, the command cannot clear either.
  const { output } = runProgramSync(find, [...places, ...words], { cwd: folder, env, longestMs: LONGEST_MS });
  return readNames(output.toString(), folder);
}

function buildHelperEnvironment({ PATH, HOME = "/" }: FindNamesOptions["environment"]) {
  return { PATH: buildHelperPath(PATH), HOME };
}

function readNames(text: string, folder: string): readonly string[] {
  const lines = text.split(text.includes("\0") ? "\0" : /\r?\n/);
  return lines.filter((line) => line !== "").map((line) => resolve(folder, line));
}

/**
 * Lists the paths that a shell pattern matches, without special shell options: hidden names match only where the
 * pattern begins with a dot.
 */
function expandShellPattern(folder: string, pattern: string): readonly string[] {
  const path = resolve(folder, pattern);
  const above = dirname(path);
  if (above === path || tryLstat(path) !== null) return [path];
  const folders = /[*?[]/.test(above) ? expandShellPattern("/", above) : [above];
  const name = basename(path);
  if (!/[*?[]/.test(name))
    return folders.map((each) => join(each, name)).filter((one) => tryLstat(one) !== null);
  const plain = `./${name.replace(/[{}()@+|\\]/g, "\\$&")}`;
  const isMatch = withFallback(null, () => createGlobMatcher(plain, { caseSensitive: true })) ?? (() => true);
  const canPatternMatch = (one: string) => !one.startsWith(".") || name.startsWith(".");
  return folders.flatMap((each) =>
    tryReadEntries(each).flatMap((entry) =>
      canPatternMatch(entry.name) && isMatch(entry.name) ? [join(each, entry.name)] : [],
    ),
  );
}
