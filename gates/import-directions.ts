import { posix } from "node:path";
import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { modulesUsed } from "./syntax.ts";

/** From the top down: a room imports itself and what stands above it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [
    "messages",
    "text",
    "disk",
    "settings",
    "network",
    "workspace",
    "tools",
    "discovery",
    "approval",
    "hooks",
    "scheduler",
    "models",
    "agent",
    "session",
    "testing",
    "assembly",
    "create-session.ts",
    "index.ts",
  ],
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
    "kept-code.ts",
    "main.ts",
  ],
};
const INNER_FOLDERS = new Set([
  "core/network/html",
  "core/network/search",
  "core/discovery/mcp",
  "core/text/edit-match",
  "core/text/patterns",
  "core/text/shell-command",
  "core/workspace/search",
  "core/approval/programs",
  "core/agent/compaction",
  "cli/modes/doctor",
  "cli/modes/print",
  "cli/ui/displays",
]);

/** Rooms that only compute: they reach neither the machine nor the network. */
const PURE = new Set(["messages", "text", "approval"]);
/** Rooms that know nothing of the house. */
const ALONE = new Set(["messages", "text"]);
/** What a tool may import of its own room: the contract, never another tool. */
const SHARED_BY_TOOLS = new Set(["tools.ts", "tool-registry.ts"]);
const LIST_OF_TOOLS = "built-in-tools.ts";
/** What a whole-turn test may reach: the doors, never a room. */
const PUBLIC_DOORS = new Set(["packages/core/src/index.ts", "packages/testing/src/index.ts"]);

/** What any test of core may use: the fakes, and the whole flow behind one call. */
const OPEN_TO_TESTS = new Set(["testing", "create-session.ts"]);

interface Place {
  /** `core` or `cli`. */
  readonly house: string;
  /** A row of ROOMS, or `tests`. */
  readonly room: string;
  /** The path below `src/` or `tests/`. */
  readonly file: string;
  readonly test: boolean;
}

export function importDirections(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!path.startsWith("packages/")) continue;
    const place = placeOf(path);
    if (typeof place === "string") violations.push(`${path}:1 ${place}`);
    if (place === null || typeof place === "string" || !isCode(path)) continue;
    looked += 1;
    for (const { line, specifier } of modulesUsed(path, text)) {
      const fault = faultOf(path, place, specifier);
      if (fault !== null) violations.push(`${path}:${line} ${fault}`);
    }
  }
  return { looked, violations };
}

/** Where a file stands, or what is wrong with standing there; null for a package's own papers. */
function placeOf(path: string): Place | string | null {
  const [, house = "", area = "", ...below] = path.split("/");
  const rooms = ROOMS[house];
  if (rooms === undefined) return `packages/${house} is no package of this house: core and cli are`;
  if (below.length === 0) return isCode(path) ? "code belongs in a room below src/" : null;
  const file = below.join("/");
  if (area === "tests") return { house, room: "tests", file, test: true };
  if (area !== "src") return `packages/${house}/${area} is not in the plan: code is in src/, tests in tests/`;
  const room = (below[0] ?? "").replace(/\.test\.ts$/, ".ts");
  if (!rooms.includes(room)) return `"${room}" is no room of packages/${house}/src: ${rooms.join(", ")}`;
  const inner = posix.join(house, posix.dirname(file));
  if (below.length > 2 && !INNER_FOLDERS.has(inner)) return `the folder ${inner} is not in the plan`;
  return { house, room, file, test: isTest(path) };
}

function faultOf(path: string, from: Place, specifier: string | null): string | null {
  if (specifier === null)
    return from.test ? null : "imports a computed name: write it out, so that it can be judged";
  if (specifier.startsWith(".")) return relativeFault(path, from, specifier);
  if (specifier.startsWith("node:")) {
    const pure = from.house === "core" && PURE.has(from.room) && !from.test;
    return pure
      ? `imports ${specifier}: ${from.room} is pure, what touches the machine is in workspace`
      : null;
  }
  return isHouse(specifier) ? houseFault(from, specifier) : null;
}

function isHouse(specifier: string): boolean {
  return /^(@burin\/|burin$|burin\/)/.test(specifier);
}

function houseFault(from: Place, specifier: string): string | null {
  const byName = `imports ${specifier}:`;
  if (from.house === "core" && from.room !== "tests") return `${byName} inside core imports are relative`;
  if (specifier === "@burin/core") return null;
  if (specifier !== "@burin/core/testing") return `${byName} the public door is @burin/core`;
  return from.test ? null : `${byName} fakes are for tests only`;
}

function relativeFault(path: string, from: Place, specifier: string): string | null {
  const target = posix.join(posix.dirname(path), specifier);
  const home = `packages/${from.house}/`;
  if (from.room === "tests") {
    const open = from.house === "cli" ? target.startsWith(`${home}src/`) : PUBLIC_DOORS.has(target);
    if (open || target.startsWith(`${home}tests/`)) return null;
    return `imports ${target}: tests of whole turns use the public doors only`;
  }
  if (from.test && target.startsWith(`${home}tests/`)) return null;
  if (!target.startsWith(`${home}src/`))
    return `imports ${target}: it leaves ${home}src, use a package's public door`;
  const to = placeOf(target);
  if (to === null || typeof to === "string") return `imports ${target}: ${to ?? "no code"}`;
  return roomFault(from, to);
}

function roomFault(from: Place, to: Place): string | null {
  const rooms = ROOMS[from.house] ?? [];
  if (from.house === "core" && from.test && OPEN_TO_TESTS.has(to.room)) return null;
  if (from.room !== to.room) {
    if (rooms.indexOf(to.room) > rooms.indexOf(from.room)) {
      return `imports ${to.file}: ${to.room} stands below ${from.room}, imports go upwards only`;
    }
    const alone = from.house === "core" && ALONE.has(from.room);
    return alone ? `imports ${to.file}: ${from.room} imports nothing of the house` : null;
  }
  const amongTools = from.house === "core" && from.room === "tools" && !from.test;
  if (!amongTools || from.file === `tools/${LIST_OF_TOOLS}`) return null;
  if (SHARED_BY_TOOLS.has(posix.basename(to.file))) return null;
  return `imports ${to.file}: a tool imports no sibling, what two tools share is in text or workspace`;
}
