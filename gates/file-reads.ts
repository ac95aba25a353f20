import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findImportedNames } from "./syntax.ts";

const MODULES = new Set(["fs", "node:fs", "fs/promises", "node:fs/promises"]);
/** Functions that open whatever has the name: a pipe makes them wait, a device never ends, a huge file fills memory. */
const READS =
  /^(?:\*|default|promises|read|readSync|readFile|readFileSync|open|openSync|openAsBlob|createReadStream|cp|cpSync)$/;

/** The files that may use these functions, and why. All other code reads with disk/regular-file.ts. */
const ROOMS: Readonly<Record<string, string>> = {
  "packages/files/src/disk/regular-file.ts": "opens what Burin reads by itself",
  "packages/files/src/disk/path-lock.ts": "opens lock files where they are made",
  "packages/files/src/paths/paths.ts": "opens what a tool named, inside the roots",
  "packages/files/src/paths/target-folder.ts": "opens folders",
  "packages/files/src/workspace/read-opened.ts": "reads what paths.ts has opened",
  "packages/files/src/workspace/replace-file.ts": "opens what it replaces, and its new content",
  "packages/files/src/workspace/remove-file.ts": "opens what it removes",
  "packages/files/src/search/file-searcher.ts": "opens what is searched, tens of thousands a second",
  "packages/commands/src/processes/process-table.ts": "reads the system's own files",
  "packages/commands/src/processes/inherited-files.ts":
    "reads the system's own files, and opens the empty one",
  "packages/commands/src/egress/network-space.ts": "opens namespaces of the system",
  "packages/commands/src/processes/run-process.ts": "opens what it hands to a program",
  "packages/commands/src/processes/process-ledger.ts": "opens folders that commands have left",
  "packages/commands/src/processes/terminal-process.ts":
    "reads what is left in a terminal that it has opened",
  "packages/commands/src/shell/command-output.ts": "makes files",
  "packages/commands/src/shell/output-pipe.ts": "opens pipes that it has made",
  "packages/files/src/disk/home-file.ts": "makes files",
  "packages/files/src/disk/own-files.ts": "looks how a file that Burin has made ends",
  "packages/commands/src/sandbox/session-space.ts": "opens what the kernel calls the parts of a space",
  "packages/commands/src/sandbox/taken-back.ts":
    "opens folders, and moves to another disk what a command made",
  "packages/core/src/session/log/event-log.ts": "appends",
  "packages/core/src/session/log/read-log.ts": "reads what regular-file.ts has opened",
  "packages/commands/src/git/git-work.ts": "makes files",
  "packages/core/src/session/undo/content.ts": "reads what regular-file.ts has opened",
  "packages/core/src/session/undo/journal-tails.ts": "reads what regular-file.ts has opened",
  "packages/core/src/session/log/clean-file.ts": "cleans files that Burin has made",
  "packages/cli/src/main.ts": "runs before anything of the core is loaded",
  "packages/cli/src/modes/replay.ts": "copies a project for a replay",
  "packages/cli/src/modes/print/answer-schema.ts": "reads the file that the command line names",
  "packages/fleet/src/base-folders.ts": "copies folders that Burin has made",
  "packages/fleet/src/task-memory.ts": "reads the system's own files",
};

/**
 * Checks that all files that Burin itself reads are opened in one way: as regular files, of limited size, no waiting.
 */
export function checkFileReads(files: Files, rooms = ROOMS): Verdict {
  const violations: string[] = [];
  const unused = new Set(Object.keys(rooms));
  let looked = 0;
  for (const [path, text] of files) {
    if (!/^packages\/[^/]+\/src\//.test(path) || path.startsWith("packages/testing/")) continue;
    if (!isCode(path) || isTest(path)) continue;
    looked += 1;
    for (const { line, name } of findImportedNames(path, text, MODULES)) {
      if (!READS.test(name)) continue;
      unused.delete(path);
      if (rooms[path] !== undefined) continue;
      violations.push(`${path}:${line} takes ${name} of node:fs: read with disk/regular-file.ts`);
    }
  }
  for (const path of unused) {
    violations.push(`gates/file-reads.ts:1 ${path} may read files, but does not`);
  }
  return { looked, violations };
}
