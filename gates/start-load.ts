import type { Verdict } from "./repository-files.ts";

/** What every start of the command line loads before it asks a model, according to the bundler. */
export interface StartLoad {
  /** Paths from the top of the repository. */
  readonly modules: readonly string[];
  readonly builtins: readonly string[];
  /** The built-in modules that its own code loads with `import()`. */
  readonly importedBuiltins: readonly string[];
  /** The size of the code as it is shipped. */
  readonly bytes: number;
  /** The number of files of the whole command line, including the one that Node starts. */
  readonly files: number;
}

/** Modules that Node loads at its own start, or for a request anyway. */
const FREE_BUILTINS = ["node:path", "node:fs", "node:os", "node:util", "node:url"];

/** The only package that may be loaded: its 2 kB correct mistyped names in a synchronous answer. */
const ALLOWED_PACKAGE = "node_modules/fastest-levenshtein/";

/** Large modules that are needed only for a call, an answer, a settings file or another way of starting. */
const LATE_MODULES = [
  "packages/core/src/approval/approval-policy.ts",
  "packages/models/src/protocols/chat-completions-reply.ts",
  "packages/models/src/failures/service-failure.ts",
  "packages/models/src/replies/sse.ts",
  "packages/contract/src/settings/settings-schema.ts",
  "packages/core/src/session/telemetry/otlp.ts",
  "packages/core/src/session/telemetry/telemetry.ts",
  "packages/core/src/text/edit-code.ts",
  "packages/files/src/workspace/diff.ts",
  "packages/edit-match/src/edit-match.ts",
  "packages/commands/src/machine.ts",
  "packages/commands/src/shell/output-text.ts",
  "packages/commands/src/processes/run-process.ts",
  "packages/commands/src/shell/running-commands.ts",
];

/** The limit for code: V8 needs about 1 ms for 36 kB, and Node alone starts in 20 ms. */
const MAX_BYTES = 218_500;

/** The maximum number of files that are loaded later: one for each occasion of first use, not for each module. */
const MAX_LATE_FILES = 50;

/** Checks that a start loads little, so that it is quick: large code must be behind an `await import()`. */
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
