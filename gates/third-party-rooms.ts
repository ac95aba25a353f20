import { isBuiltin } from "node:module";
import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findModuleUses } from "./syntax.ts";

type Rooms = Readonly<Record<string, string | readonly string[]>>;

/** The only file, or folder (ending in `/`), that may import each package. A new package needs a row here. */
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
  unpdf: "packages/files/src/parsing/documents.ts",
  typescript: "docs-site/api-pages.mjs",
  vitepress: "docs-site/theme/index.mjs",
  vitest: "packages/testing/src/",
  yaml: "packages/core/src/agent/definitions.ts",
};

/** The only shipped files that may start processes. */
const PROCESS_ROOMS = [
  "packages/commands/src/processes/run-process.ts",
  "packages/files/src/search/",
  // Starts the user's own editor, which takes over the terminal.
  "packages/cli/src/modes/interactive/edit-outside.ts",
  // Starts the system's program that returns the image in the clipboard.
  "packages/cli/src/modes/interactive/images.ts",
  // Creates repositories for tests; no interface loads it.
  "packages/testing/src/made-files.ts",
  // Checks whether the programs that tests use work on this machine.
  "packages/testing/src/programs.mjs",
  // Starts the same command again, for a task that may crash the process that works on it.
  "packages/fleet/src/open-worker.ts",
  // Runs git's own commands at the end of each task.
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

/** Whether a file is shipped, used for building or shown as an example. A tool's settings file belongs to the tool. */
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
