import { isBuiltin } from "node:module";
import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findModuleUses } from "./syntax.ts";

type Rooms = Readonly<Record<string, string | readonly string[]>>;

/** The one file, or the one folder (ending in `/`), that may import a package. A new package gets a row here. */
const ROOM_OF_PACKAGE: Rooms = {
  "@ai-sdk/openai-compatible": "examples/loops/",
  "@anthropic-ai/sdk": "examples/loops/",
  "@google/genai": "examples/loops/",
  "@langchain/core": "examples/loops/",
  "@langchain/openai": "examples/loops/",
  ai: "examples/loops/",
  openai: "examples/loops/",
  "@agentclientprotocol/sdk": "packages/serve/src/acp/",
  "@jridgewell/sourcemap-codec": "build.mjs",
  "@modelcontextprotocol/client": "packages/mcp/src/",
  "@modelcontextprotocol/node": "packages/serve/src/mcp/serve-http.ts",
  "@modelcontextprotocol/server": "packages/serve/src/mcp/",
  "@napi-rs/keyring": "packages/mcp/src/keychain.ts",
  "@dbos-inc/dbos-sdk": "packages/fleet/src/",
  "@lydell/node-pty": "packages/commands/src/processes/terminal-process.ts",
  "@xterm/headless": ["bench/screen-program.mjs", "docs/pictures/terminal-picture.mjs"],
  diff: ["packages/core/src/text/", "packages/files/src/workspace/diff.ts"],
  entities: "packages/web/src/html/page-tree.ts",
  "eventsource-parser": "packages/models/src/replies/sse.ts",
  "fastest-levenshtein": "packages/contract/src/text/near-names.ts",
  "ipaddr.js": "packages/net/src/judge-address.ts",
  "jsonc-parser": [
    "packages/core/src/settings/",
    "packages/core/src/text/notebook-edit.ts",
    "packages/cli/src/modes/import/read-files.ts",
  ],
  pg: "packages/fleet/src/",
  "playwright-core": ["docs-site/check.mjs", "fleet-page/check.mjs"],
  rolldown: [
    "build.mjs",
    "docs/pictures/terminal-picture.mjs",
    "packaging/run.mjs",
    "packaging/bundlers.mjs",
  ],
  esbuild: ["packaging/bundlers.mjs"],
  "llm-zoo": "model-table.mjs",
  "smol-toml": "packages/cli/src/modes/import/read-files.ts",
  unbash: "packages/shell-judge/src/grammar/",
  unpdf: "packages/files/src/parsing/pdf-text.ts",
  vitepress: "docs-site/theme/index.mjs",
  vitest: "packages/testing/src/",
  yaml: "packages/core/src/agent/definitions.ts",
};

/** Processes are started here and nowhere else in what is shipped. */
const PROCESS_ROOMS = [
  "packages/commands/src/processes/run-process.ts",
  "packages/files/src/search/",
  // The user's own editor, which takes the terminal of the screen.
  "packages/cli/src/modes/interactive/edit-outside.ts",
  // The system's program that gives the image in the clipboard.
  "packages/cli/src/modes/interactive/images.ts",
  // Repositories that tests look at; no face loads it.
  "packages/testing/src/made-files.ts",
  // Asks whether programs that tests call work here.
  "packages/testing/src/programs.mjs",
  // The same command once more, for a task that may take down the process that works on it.
  "packages/fleet/src/open-worker.ts",
  // Git's own commands at the end of each task.
  "packages/fleet/src/run-command.ts",
];

export function checkThirdPartyRooms(files: Files, roomOfPackage = ROOM_OF_PACKAGE): Verdict {
  const violations: string[] = [];
  const unused = new Set(Object.keys(roomOfPackage));
  let looked = 0;
  for (const [path, text] of files) {
    if (!isProduct(path)) continue;
    looked += 1;
    for (const { line, specifier } of findModuleUses(path, text)) {
      if (specifier === null || specifier.startsWith(".")) continue;
      unused.delete(readPackageName(specifier));
      const fault = findFault(path, specifier, roomOfPackage);
      if (fault !== null) violations.push(`${path}:${line} imports ${specifier}: ${fault}`);
    }
  }
  for (const name of unused) {
    violations.push(
      `gates/third-party-rooms.ts:1 ${name} has the room ${roomOfPackage[name]}, but nothing imports it`,
    );
  }
  return { looked, violations };
}

/** Everything that is shipped, built with or shown as an example; a tool's own settings file is the tool's. */
function isProduct(path: string): boolean {
  return isCode(path) && !isTest(path) && !/^[^/]+\.config\.[cm]?[jt]s$/.test(path);
}

function findFault(path: string, specifier: string, roomOfPackage: Rooms): string | null {
  if (specifier.startsWith("node:")) {
    if (specifier !== "node:child_process" || !/^packages\/[^/]+\/src\//.test(path)) return null;
    return isIn(path, PROCESS_ROOMS) ? null : `processes are started in ${PROCESS_ROOMS.join(" or ")} only`;
  }
  if (isBuiltin(specifier)) return `write node:${specifier}`;
  const name = readPackageName(specifier);
  if (name.startsWith("@burin/")) return null;
  const room = roomOfPackage[name];
  if (room === undefined) return `${name} has no room, give it one in gates/third-party-rooms.ts`;
  const allowed = [room].flat();
  return isIn(path, allowed) ? null : `${name} belongs in ${allowed.join(" or ")}`;
}

function isIn(path: string, rooms: readonly string[]): boolean {
  return rooms.some((room) => (room.endsWith("/") ? path.startsWith(room) : path === room));
}

function readPackageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
