import { posix } from "node:path";
import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findModuleUses } from "./syntax.ts";

/**
 * All packages and their rooms, from top to bottom. A package may import only itself and packages above it; the same
 * applies to the rooms of a package in ORDERED.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  contract: [
    "with-fallback.ts",
    "text",
    "async",
    "patterns",
    "messages",
    "approval-mode.ts",
    "settings",
    "machine",
    "tool-result.ts",
    "tools.ts",
    "effects.ts",
    "tool-call.ts",
    "chat-model.ts",
    "agent-event.ts",
  ],
  "edit-match": [],
  "shell-judge": ["grammar", "programs"],
  net: [],
  files: ["disk", "paths", "encodings", "parsing", "ignore", "tree", "search", "workspace"],
  commands: [
    "processes",
    "git",
    "sandbox",
    "egress",
    "shell",
    "machine.ts",
    "file-helpers.ts",
    "machine-of.ts",
    "node-machine.ts",
  ],
  models: [
    "request",
    "calls",
    "failures",
    "replies",
    "keys",
    "protocols",
    "choice",
    "scripted.ts",
    "sound-model.ts",
  ],
  testing: [],
  web: ["html", "search"],
  mcp: [],
  core: [
    "text",
    "settings",
    "tools",
    "discovery",
    "approval",
    "hooks",
    "scheduler",
    "agent",
    "session",
    "assembly",
    "adapters",
    "create-session.ts",
    "configured-session.ts",
    "session-store.ts",
    "machine.ts",
    "sessions.ts",
    "old-names.ts",
    "index.ts",
    "internal.ts",
    "adapters.ts",
    "testing.ts",
  ],
  serve: ["mcp", "acp"],
  fleet: ["page"],
  cli: [
    "terminal",
    "request",
    "locales",
    "state",
    "ui",
    "commands",
    "modes",
    "subcommands.ts",
    "help.ts",
    "args.ts",
    "start.ts",
    "main.ts",
  ],
};
const PACKAGES = Object.keys(ROOMS);
/** Packages with more rooms than this have ordered rooms, and no file outside them that is not in the list. */
const MAX_UNORDERED = 5;
const ORDERED = new Set(PACKAGES.filter((name) => (ROOMS[name] ?? []).length > MAX_UNORDERED));
const INNER_FOLDERS = new Set([
  "core/agent/compaction",
  "core/session/log",
  "core/session/undo",
  "core/session/telemetry",
  "core/session/worktree",
  "cli/modes/demo",
  "cli/modes/doctor",
  "cli/modes/import",
  "cli/modes/plugins",
  "cli/modes/print",
  "cli/modes/worktrees",
  "cli/modes/interactive",
  "cli/ui/displays",
]);

/** Packages and rooms that only compute: they access neither the machine nor the network. */
const PURE = new Set(["contract", "edit-match", "shell-judge", "core/text", "core/approval"]);
/** What a tool may import from its own room: only the contract, never another tool. */
const SHARED_BY_TOOLS = new Set(["tool-registry.ts"]);
const LIST_OF_TOOLS = "built-in-tools.ts";
/** What a whole-turn test may import: the public doors, never a room. */
const DOORS = ["adapters", "internal", "machine", "sessions", "testing"];
const PUBLIC_DOORS = new Set(["index", ...DOORS].map((door) => `packages/core/src/${door}.ts`));
const DOORS_OF_CORE = new Set(["@burin/core", ...DOORS.map((door) => `@burin/core/${door}`)]);
/** Exports the fakes to other packages; elsewhere, fakes are only for tests. */
const DOOR_OF_TESTING = "packages/core/src/testing.ts";

/** Packages that may use the core only through its doors. */
const BELOW_CORE = new Set(["serve", "fleet", "cli"]);

/** Packages whose tests use another package: the tests of files run programs that commands provides. */
const HANDED_IN: Readonly<Record<string, string>> = { files: "commands" };

/** Files that tests may open: the whole processing of one call and of one request. */
const OPEN_TO_TESTS = new Set([
  "create-session.ts",
  "configured-session.ts",
  "file-helpers.ts",
  "shell/commands.ts",
  "choice/choose-model.ts",
  "choice/open-model.ts",
]);

interface FileLocation {
  /** A row of ROOMS. */
  readonly house: string;
  /** A room of the package, `tests`, or "" for a file outside the rooms. */
  readonly room: string;
  /** The path below `src/` or `tests/`. */
  readonly file: string;
  readonly test: boolean;
}

export function checkImportDirections(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!path.startsWith("packages/")) continue;
    const place = findLocation(path);
    if (typeof place === "string") violations.push(`${path}:1 ${place}`);
    if (place === null || typeof place === "string" || !isCode(path)) continue;
    looked += 1;
    for (const { line, specifier } of findModuleUses(path, text)) {
      const fault = findFault(path, place, specifier);
      if (fault !== null) violations.push(`${path}:${line} ${fault}`);
    }
  }
  return { looked, violations };
}

/** Returns where a file belongs, or what is wrong with its location; null for a package's own documents. */
function findLocation(path: string): FileLocation | string | null {
  const [, house = "", area = "", ...below] = path.split("/");
  const rooms = ROOMS[house];
  if (rooms === undefined) return `packages/${house} is not a package of this house: ${PACKAGES.join(", ")}`;
  if (below.length === 0) return isCode(path) ? "code belongs in a room below src/" : null;
  const file = below.join("/");
  if (area === "tests") return { house, room: "tests", file, test: true };
  if (area !== "src") return `packages/${house}/${area} is not in the plan: code is in src/, tests in tests/`;
  const room = (below[0] ?? "").replace(/\.test\.ts$/, ".ts");
  if (below.length === 1 && !ORDERED.has(house)) return { house, room: "", file, test: isTest(path) };
  if (!rooms.includes(room)) return `"${room}" is no room of packages/${house}/src: ${rooms.join(", ")}`;
  const inner = posix.join(house, posix.dirname(file));
  if (below.length > 2 && !INNER_FOLDERS.has(inner)) return `the folder ${inner} is not in the plan`;
  return { house, room, file, test: isTest(path) };
}

function findFault(path: string, from: FileLocation, specifier: string | null): string | null {
  if (specifier === null)
    return from.test ? null : "imports a computed name: write it out, so that it can be judged";
  if (specifier.startsWith(".")) return findRelativeFault(path, from, specifier);
  if (specifier.startsWith("node:")) {
    const pure = [from.house, `${from.house}/${from.room}`].find((one) => PURE.has(one));
    return pure === undefined || from.test
      ? null
      : `imports ${specifier}: ${pure} is pure, what touches the machine is in files, commands and net`;
  }
  return isHouse(specifier) ? findHouseFault(path, from, specifier) : null;
}

function isHouse(specifier: string): boolean {
  return /^(@burin\/|burin$|burin\/)/.test(specifier);
}

/** A test may use core's public doors, in addition to what is above its package. */
function findHouseFault(path: string, from: FileLocation, specifier: string): string | null {
  const byName = `imports ${specifier}:`;
  const [, name = "cli"] = /^@burin\/([^/]+)/.exec(specifier) ?? [];
  const isDoor = DOORS_OF_CORE.has(specifier);
  if (from.test && (isDoor || name === "testing" || name === HANDED_IN[from.house])) return null;
  if (name === from.house) return `${byName} inside a package imports are relative`;
  if (name === "testing" || specifier === "@burin/core/testing")
    return path === DOOR_OF_TESTING ? null : `${byName} fakes are for tests only`;
  if (BELOW_CORE.has(from.house) && !isDoor && name !== "serve" && name !== "fleet")
    return `${byName} the public door is @burin/core`;
  const isAbove = PACKAGES.includes(name) && PACKAGES.indexOf(name) < PACKAGES.indexOf(from.house);
  return isAbove ? null : `${byName} ${name} stands below ${from.house}, imports go upwards only`;
}

function findRelativeFault(path: string, from: FileLocation, specifier: string): string | null {
  const target = posix.join(posix.dirname(path), specifier);
  const home = `packages/${from.house}/`;
  if (from.room === "tests") {
    const open = from.house === "core" ? PUBLIC_DOORS.has(target) : target.startsWith(`${home}src/`);
    if (open || target.startsWith(`${home}tests/`)) return null;
    return `imports ${target}: tests of whole turns use the public doors only`;
  }
  if (from.test && target.startsWith(`${home}tests/`)) return null;
  if (!target.startsWith(`${home}src/`))
    return `imports ${target}: it leaves ${home}src, use a package's public door`;
  const to = findLocation(target);
  if (to === null || typeof to === "string") return `imports ${target}: ${to ?? "no code"}`;
  return ORDERED.has(from.house) ? findRoomFault(from, to) : null;
}

function findRoomFault(from: FileLocation, to: FileLocation): string | null {
  const rooms = ROOMS[from.house] ?? [];
  if (from.test && OPEN_TO_TESTS.has(to.file)) return null;
  if (from.room !== to.room) {
    return rooms.indexOf(to.room) > rooms.indexOf(from.room)
      ? `imports ${to.file}: ${to.room} stands below ${from.room}, imports go upwards only`
      : null;
  }
  const amongTools = from.house === "core" && from.room === "tools" && !from.test;
  if (!amongTools || from.file === `tools/${LIST_OF_TOOLS}`) return null;
  if (SHARED_BY_TOOLS.has(posix.basename(to.file))) return null;
  return `imports ${to.file}: a tool imports no sibling, what two tools share is in text or a package above`;
}

/** Checks that every public file of a package that lists its own is used by another package. */
export function checkPublicFiles(files: Files): Verdict {
  const users = findUsers(files);
  const rows = PACKAGES.flatMap((name) => {
    const { exports = {}, private: isPrivate } = JSON.parse(
      files.get(`packages/${name}/package.json`) ?? "{}",
    );
    return isPrivate ? Object.keys(exports).map((row) => ({ name, row })) : [];
  });
  const isUnused = ({ name, row }: (typeof rows)[number]) =>
    !row.includes("*") &&
    [...(users.get(posix.join("@burin", name, row)) ?? [])].every((user) => user === name);
  const violations = rows
    .filter(isUnused)
    .map(({ name, row }) => `packages/${name}/package.json:1 exports ${row}, which no other package uses`);
  return { looked: rows.length, violations };
}

/** The maximum number of doors of a package. */
const MAX_DOORS = 20;

/** Checks that no package has too many entry points: a package that can be entered everywhere has no boundary. */
export function checkPackageDoors(files: Files): Verdict {
  const violations = PACKAGES.flatMap((name) => {
    const { exports = {} } = JSON.parse(files.get(`packages/${name}/package.json`) ?? "{}");
    const count = Object.keys(exports).length;
    return count > MAX_DOORS
      ? [`packages/${name}/package.json:1 has ${count} exports, more than ${MAX_DOORS}`]
      : [];
  });
  return { looked: PACKAGES.length, violations };
}

/** Finds the packages that use each specifier. */
function findUsers(files: Files): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const [path, text] of files) {
    const [, user] = /^packages\/([^/]+)\//.exec(path) ?? [];
    if (user === undefined || !isCode(path)) continue;
    for (const { specifier } of findModuleUses(path, text)) {
      if (specifier !== null) users.set(specifier, (users.get(specifier) ?? new Set()).add(user));
    }
  }
  return users;
}
