import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { addPolicies, addPrefixRules, addRules } from "./foreign-rules.ts";
import { addPermissions, addServers, addSettings, fileNamesIn, inGroups } from "./foreign-settings.ts";
import { Found, fields, type Places, text } from "./found.ts";
import { entriesOf, filesBelow, settingsIn, textOf } from "./read-files.ts";
import { addRecords, type Records, talkOfBranches, talkOfItems, talkOfMessages } from "./records.ts";

interface Agent {
  readonly name: string;
  readonly folder: string;
  /** The variable for another place of that folder. */
  readonly variable?: string;
  readonly settings: string;
  /** Its text for the model, in all projects. */
  readonly memory: string;
  /** The folder of its sessions, and what their records look like. */
  readonly records?: Records & { readonly below: string };
  /** Adds what else it has outside its settings. */
  readonly readMore?: (found: Found, places: Places) => void;
}

export const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    name: "Claude Code",
    folder: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    settings: "settings.json",
    memory: "CLAUDE.md",
    records: { below: "projects", named: /^[0-9a-f-]{36}\.jsonl$/, depth: 1, talkIn: talkOfBranches },
    readMore: readMoreOfClaude,
  },
  codex: {
    name: "Codex",
    folder: ".codex",
    variable: "CODEX_HOME",
    settings: "config.toml",
    memory: "AGENTS.md",
    records: { below: "sessions", named: /^rollout-.*\.jsonl(?:\.zst)?$/, talkIn: talkOfItems },
    readMore: (found, { folder }) => {
      for (const file of filesBelow(join(folder, "rules"), /\.rules$/))
        addPrefixRules(found, textOf(file, found) ?? "");
    },
  },
  gemini: {
    name: "Gemini CLI",
    folder: ".gemini",
    settings: "settings.json",
    memory: "GEMINI.md",
    readMore: (found, places) => {
      for (const file of filesBelow(join(places.folder, "policies"), /\.toml$/))
        addPolicies(found, settingsIn(file, found));
      addChats(found, places);
    },
  },
  qwen: {
    name: "Qwen Code",
    folder: ".qwen",
    variable: "QWEN_HOME",
    settings: "settings.json",
    memory: "QWEN.md",
    records: { below: "projects", named: /\.jsonl$/, depth: 2, talkIn: talkOfBranches },
    readMore: addChats,
  },
};

export function readAgent(agent: Agent, places: Places): Found {
  const { settings: settingsFile, memory, records, readMore } = agent;
  const found = new Found();
  const settings = inGroups(settingsIn(join(places.folder, settingsFile), found));
  addSettings(found, settings);
  for (const name of new Set([memory, ...fileNamesIn(settings)])) {
    const file = join(places.folder, basename(name));
    const words = textOf(file, found);
    if (words !== null) found.memories.push({ file, text: words });
  }
  const inProject = join(places.root, agent.folder);
  for (const folder of new Set([places.folder, inProject]))
    for (const kind of ["agents", "commands", "prompts"])
      if (filesBelow(join(folder, kind), /\.(?:md|toml)$/).length > 0)
        found.leave(join(folder, kind), "copy what you need: see docs/hooks-skills-commands.md");
  if (inProject !== places.folder)
    for (const file of [settingsFile, "settings.local.json"])
      readProjectSettings(found, join(inProject, file), places.withProject);
  for (const { name } of entriesOf(join(places.folder, "extensions")).filter((one) => one.isDirectory()))
    found.leave(join(places.folder, "extensions", name), "add its MCP servers with burin mcp add");
  const project = places.root.replace(/[^A-Za-z0-9]/g, "-");
  for (const own of ["memories", join("projects", project, "memory")])
    leaveLearned(found, join(places.folder, own));
  readMore?.(found, places);
  if (records) addRecords(found, join(places.folder, records.below), records);
  return found;
}

/** Settings that lie in the project, and so may come from somebody else. */
function readProjectSettings(found: Found, file: string, isWanted: boolean): void {
  if (!isWanted) {
    if (textOf(file, found) !== null) found.leave(file, "it lies in the project: add --project to take it");
    return;
  }
  const { permissions, mcpServers, mcp_servers = mcpServers, ...others } = settingsIn(file, found);
  addPermissions(found, permissions, true);
  leaveServers(found, mcp_servers);
  for (const key of Object.keys(others))
    found.leave(`setting ${key} of ${file}`, "write what you need of it into .burin/settings.json");
}

function leaveServers(found: Found, servers: unknown): void {
  for (const alias of Object.keys(fields(servers)))
    found.leave(`MCP server ${alias} of this folder`, "add it with burin mcp add --scope project");
}

function readMoreOfClaude(found: Found, { userHome, root }: Places): void {
  const state = settingsIn(join(userHome, ".claude.json"), found);
  addServers(found, state.mcpServers, /\$(?=[A-Za-z_])/g);
  const project = fields(fields(state.projects)[root]);
  addRules(found, { allow: project.allowedTools }, true);
  leaveServers(found, project.mcpServers);
}

/** What it wrote down by itself. */
function leaveLearned(found: Found, folder: string): void {
  for (const file of filesBelow(folder, /\.md$/))
    if (textOf(file, found)?.trim())
      found.leave(file, "what it learned by itself: copy what you need into AGENTS.md");
}

/** Chats are in folders named by hand or by the hash of the project's path, which only a list can resolve. */
function addChats(found: Found, { folder, root }: Places): void {
  const named = /^session-.*\.jsonl?$/;
  const listed = Object.entries(fields(settingsIn(join(folder, "projects.json"), found).projects));
  const roots = new Map(listed.map(([path, name]) => [text(name), path]));
  for (const path of [root, ...roots.values()])
    roots.set(createHash("sha256").update(path).digest("hex"), path);
  for (const { name } of entriesOf(join(folder, "tmp"))) {
    const held = textOf(join(folder, "tmp", name, ".project_root"), found)?.trim() ?? roots.get(name) ?? "";
    if (held === root) leaveLearned(found, join(folder, "tmp", name, "memory"));
    const place = join(folder, "tmp", name, "chats");
    addRecords(found, place, { named, depth: 0, folder: held, talkIn: talkOfMessages });
  }
}
