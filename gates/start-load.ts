import type { Verdict } from "./repository-files.ts";

/** What every start of the command line loads before it asks a model, as the bundler sees it. */
export interface StartLoad {
  /** Paths from the top of the repository. */
  readonly modules: readonly string[];
  readonly builtins: readonly string[];
  /** Those that its own code asks for with `import()`. */
  readonly importedBuiltins: readonly string[];
  /** Of code, as it ships. */
  readonly bytes: number;
  /** Of the whole command line, with the one that Node starts. */
  readonly files: number;
}

/** Node holds these ready at its own start, or loads them for a request anyway. */
const FREE_BUILTINS = ["node:path", "node:fs", "node:os", "node:util", "node:url"];

/** No package at all, but for one of 2 kB: names that were mistyped are corrected in a synchronous answer. */
const ALLOWED_PACKAGE = "node_modules/fastest-levenshtein/";

/** Much code that only a call, an answer, a file of settings or another way of starting has a use for. */
const LATE_MODULES = [
  "packages/core/src/approval/approval-policy.ts",
  "packages/models/src/protocols/chat-completions-reply.ts",
  "packages/models/src/failures/service-failure.ts",
  "packages/models/src/replies/sse.ts",
  "packages/contract/src/settings/settings-schema.ts",
  "packages/core/src/session/telemetry/otlp.ts",
  "packages/core/src/session/telemetry/telemetry.ts",
  "packages/core/src/text/changing.ts",
  "packages/files/src/workspace/diff.ts",
  "packages/edit-match/src/edit-match.ts",
  "packages/commands/src/machine.ts",
  "packages/commands/src/shell/output-text.ts",
  "packages/commands/src/processes/run-process.ts",
  "packages/commands/src/shell/running-commands.ts",
];

/** V8 takes about 1 ms for 36 kB, and a bare Node starts in 20 ms. */
const MAX_BYTES = 215_600;

/** One for each moment of first use, not for each module. */
const MAX_LATE_FILES = 51;

/** A start is quick because it loads little: what is heavy stays behind an `await import()`. */
export function checkStartLoad({ modules, builtins, importedBuiltins, bytes, files }: StartLoad): Verdict {
  const violations: string[] = [];
  if (files - 1 > MAX_LATE_FILES)
    violations.push(
      `the command line has ${files - 1} late chunks, more than ${MAX_LATE_FILES}: build-moments.mjs`,
    );
  for (const path of modules) {
    const isForeign = path.includes("node_modules/") && !path.includes(ALLOWED_PACKAGE);
    if (isForeign || LATE_MODULES.includes(path)) {
      violations.push(`every start would load ${path}: import it with await import() where it is used`);
    }
  }
  for (const name of builtins.filter((one) => !FREE_BUILTINS.includes(one))) {
    violations.push(`every start would load ${name}: import what uses it with await import()`);
  }
  for (const name of importedBuiltins) {
    violations.push(
      `a start could not import("${name}") from code that was kept compiled: move it into a chunk of its own, or take process.getBuiltinModule`,
    );
  }
  if (bytes > MAX_BYTES) {
    violations.push(`a start loads ${bytes} bytes, more than ${MAX_BYTES}: load late what it does not need`);
  }
  return { looked: modules.length, violations };
}
