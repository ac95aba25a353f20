import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findModuleValues } from "./syntax.ts";

/**
 * The maximum number of values in modules that change while the process lives, so that its sessions share them. It may only fall.
 */
const MAX_SHARED = 20;
/** How far the limit may be above the real number, so that two simultaneous changes do not affect each other. */
const SLACK = 2;
/** A comment above the value must say that it is shared, and why that is safe. */
const REASON = /\bShared by sessions: \S.{10}/;

/** May read the environment: the entry points, which pass it on, because a session may have been given another one. */
const READERS: Readonly<Record<string, string>> = {
  "packages/core/src/assembly/home.ts": "the door of toolboxes and sessions",
  "packages/core/src/configured-session.ts": "the door of sessions with their own settings",
  "packages/core/src/session-store.ts": "the door of recorded sessions",
  "packages/core/src/session/undo/undo-door.ts": "the door of undo",
  "packages/core/src/tools/web-fetch.ts": "the door of a tool that is used alone",
  "packages/core/src/settings/load-settings.ts": "the door of settings alone",
};
/** Interfaces, which start with an environment, and fakes. */
const ABOVE_THE_DOOR = /^packages\/(?:cli|serve|fleet|testing)\//;
/** Checks that what a module keeps between calls is little, and that a comment says why sessions may share it. */
export function checkSharedState(files: Files, max = MAX_SHARED): Verdict {
  const violations: string[] = [];
  let looked = 0;
  let shared = 0;
  for (const [path, text] of listPackageCode(files)) {
    looked += 1;
    for (const { name, line, comment } of findModuleValues(path, text)) {
      shared += 1;
      if (REASON.test(comment)) continue;
      violations.push(
        `${path}:${line} ${name} changes in a module: move it into the object that owns it, or say "Shared by sessions: why"`,
      );
    }
  }
  if (shared > max)
    violations.push(`${shared} values change in modules, more than the ${max} of gates/shared-state.ts`);
  if (shared < max - SLACK) violations.push(`gates/shared-state.ts:1 lower the ${max} to ${shared}`);
  return { looked, violations };
}

/** Checks that no code below the entry points reads the process's environment. */
export function checkEnvironmentReads(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of listPackageCode(files)) {
    if (ABOVE_THE_DOOR.test(path) || path in READERS) continue;
    looked += 1;
    for (const [index, line] of text.split("\n").entries()) {
      if (!/\bprocess\.env\b|\benv\b[^;=]*\} = process\b/.test(line)) continue;
      violations.push(`${path}:${index + 1} reads process.env: take the environment from the caller`);
    }
  }
  return { looked, violations };
}

function listPackageCode(files: Files): [string, string][] {
  return [...files].filter(
    ([path]) =>
      /^packages\/[^/]+\/src\//.test(path) &&
      isCode(path) &&
      !isTest(path) &&
      !path.startsWith("packages/fleet/src/page/") &&
      !path.startsWith("packages/testing/"),
  );
}
