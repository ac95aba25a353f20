import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { addPolicies, addPrefixRules, addRules } from "./foreign-rules.ts";
import { addPermissions, addServers, addSettings, groupSettings, readFileNames } from "./foreign-settings.ts";
import { Found, type ImportLocations, toFields, toText } from "./found.ts";
import { listEntries, listFilesBelow, readForeignSettings, readForeignText } from "./read-files.ts";
import { addRecords, type Records, readBranches, readItems, readMessages } from "./records.ts";

interface Agent {
  readonly name: string;
  readonly folder: string;
  /** The environment variable that can move that folder. */
  readonly variable?: string;
  readonly settings: string;
  /** The file with the agent's instructions for all projects. */
  readonly memory: string;
  /** The folder and the format of its session records. */
  readonly records?: Records & { readonly below: string };
  /** Adds what the agent stores outside its settings. */
  readonly readMore?: (found: Found, places: ImportLocations) => void;
}

export const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    name: "Claude Code",
    folder: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    settings: "settings.json",
    memory: "CLAUDE.md",
    records: { below: "projects", named: /^[0-9a-f-]{36}\.jsonl$/, depth: 1, talkIn: readBranches },
    readMore: readClaudeState,
  },
  codex: {
    name: "Codex",
    folder: ".codex",
    variable: "CODEX_HOME",
    settings: "config.toml",
    memory: "AGENTS.md",
    records: { below: "sessions", named: /^rollout-.*\.jsonl(?:\.zst)?$/, talkIn: readItems },
    readMore: (found, { folder }) => {
      for (const file of listFilesBelow(join(folder, "rules"), /\.rules$/))
        addPrefixRules(found, readForeignText(file, found) ?? "");
    },
  },
  gemini: {
    name: "Gemini CLI",
    folder: ".gemini",
    settings: "settings.json",
    memory: "GEMINI.md",
    readMore: (found, places) => {
      for (const file of listFilesBelow(join(places.folder, "policies"), /\.toml$/))
        addPolicies(found, readForeignSettings(file, found));
      addChatRecords(found, places);
    },
  },
  qwen: {
    name: "Qwen Code",
    folder: ".qwen",
    variable: "QWEN_HOME",
    settings: "settings.json",
    memory: "QWEN.md",
    records: { below: "projects", named: /\.jsonl$/, depth: 2, talkIn: readBranches },
    readMore: addChatRecords,
  },
};

export function readAgent(agent: Agent, places: ImportLocations): Found {
  const { settings: settingsFile, memory, records, readMore } = agent;
  const found = new Found();
  const settings = groupSettings(readForeignSettings(join(places.folder, settingsFile), found));
  addSettings(found, settings);
  for (const name of new Set([memory, ...readFileNames(settings)])) {
    const file = join(places.folder, basename(name));
    const words = readForeignText(file, found);
    if (words !== null) found.memories.push({ file, text: words });
  }
  const inProject = join(places.root, agent.folder);
  for (const folder of new Set([places.folder, inProject]))
    for (const kind of ["agents", "commands", "prompts"])
      if (listFilesBelow(join(folder, kind), /\.(?:md|toml)$/).length > 0)
        found.noteLeftOut(join(folder, kind), "copy what you need: see docs/hooks-skills-commands.md");
  if (inProject !== places.folder)
    for (const file of [settingsFile, "settings.local.json"])
      readProjectSettings(found, join(inProject, file), places.withProject);
  for (const { name } of listEntries(join(places.folder, "extensions")).filter((one) => one.isDirectory()))
    found.noteLeftOut(join(places.folder, "extensions", name), "add its MCP servers with burin mcp add");
  const project = places.root.replace(/[^A-Za-z0-9]/g, "-");
  for (const own of ["memories", join("projects", project, "memory")])
    noteSkippedMemories(found, join(places.folder, own));
  readMore?.(found, places);
  if (records) addRecords(found, join(places.folder, records.below), records);
  return found;
}

/** Reads the settings in the project, which may come from somebody else. */
function readProjectSettings(found: Found, file: string, isWanted: boolean): void {
  if (!isWanted) {
    if (readForeignText(file, found) !== null)
      found.noteLeftOut(file, "it lies in the project: add --project to take it");
    return;
  }
  const { permissions, mcpServers, mcp_servers = mcpServers, ...others } = readForeignSettings(file, found);
  addPermissions(found, permissions, true);
  noteSkippedServers(found, mcp_servers);
  for (const key of Object.keys(others))
    found.noteLeftOut(`setting ${key} of ${file}`, "write what you need of it into .burin/settings.json");
}

function noteSkippedServers(found: Found, servers: unknown): void {
  for (const alias of Object.keys(toFields(servers)))
    found.noteLeftOut(`MCP server ${alias} of this folder`, "add it with burin mcp add --scope project");
}

function readClaudeState(found: Found, { userHome, root }: ImportLocations): void {
  const state = readForeignSettings(join(userHome, ".claude.json"), found);
  addServers(found, state.mcpServers, /\$(?=[A-Za-z_])/g);
  const project = toFields(toFields(state.projects)[root]);
  addRules(found, { allow: project.allowedTools }, true);
  noteSkippedServers(found, project.mcpServers);
}

/** Reports the notes that the agent wrote by itself; they are not imported. */
function noteSkippedMemories(found: Found, folder: string): void {
  for (const file of listFilesBelow(folder, /\.md$/))
    if (readForeignText(file, found)?.trim())
      found.noteLeftOut(file, "what it learned by itself: copy what you need into AGENTS.md");
}

/** Adds recorded chats. Some folders are named by a hash of the project's path, which only a list can resolve. */
function addChatRecords(found: Found, { folder, root }: ImportLocations): void {
  const named = /^session-.*\.jsonl?$/;
  const listed = Object.entries(toFields(readForeignSettings(join(folder, "projects.json"), found).projects));
  const roots = new Map(listed.map(([path, name]) => [toText(name), path]));
  for (const path of [root, ...roots.values()])
    roots.set(createHash("sha256").update(path).digest("hex"), path);
  for (const { name } of listEntries(join(folder, "tmp"))) {
    const held =
      readForeignText(join(folder, "tmp", name, ".project_root"), found)?.trim() ?? roots.get(name) ?? "";
    if (held === root) noteSkippedMemories(found, join(folder, "tmp", name, "memory"));
    const place = join(folder, "tmp", name, "chats");
    addRecords(found, place, { named, depth: 0, folder: held, talkIn: readMessages });
  }
}
