import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createSession } from "@burin/core";
import {
  findSession,
  listSessionSummaries,
  loadSettings,
  openTrust,
  readFolderTrust,
} from "@burin/core/internal";
import { listUndoEntries, scriptedModel } from "@burin/core/sessions";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();
beforeEach(() => {
  execFileSync("git", ["init", "-q", root]);
  writeFileSync(join(root, "a.txt"), "words\n");
});

const KINDS: Readonly<Record<string, (path: string) => void>> = {
  pipe: (path) => execFileSync("mkfifo", [path]),
  "endless device": (path) => symlinkSync("/dev/zero", path),
  "200 MB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 200 * 1024 * 1024);
  },
  folder: (path) => mkdirSync(path),
};

/** Everything that Burin reads of a project without having been asked to. */
const IN_PROJECT = [
  ".git/info/exclude",
  ".git/config",
  ".git/commondir",
  ".gitignore",
  ".burinignore",
  "AGENTS.md",
  ".burin/settings.json",
  ".burin/agents/a.md",
  ".burin/commands/a.md",
  ".burin/skills/a/SKILL.md",
];
const IN_HOME = [
  "settings.json",
  "AGENTS.md",
  "trust.json",
  "grants.json",
  "agents/a.md",
  "commands/a.md",
  "skills/a/SKILL.md",
  "running/0123456789abcdef.jsonl",
  "sessions/x-00000000/abc.jsonl",
];

function plant(folder: string, name: string, make: (path: string) => void): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true, recursive: true });
  make(path);
}

/** All that reads by itself, in one go; what is refused says why. */
async function useAll(): Promise<string[]> {
  const said: string[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    await work().catch((error: Error) => said.push(error.message));
  };
  await attempt(async () => said.push(...(await loadSettings({ home, root })).notices));
  await attempt(() => readFolderTrust({ home, root }));
  await attempt(async () => (await openTrust(home)).readItems());
  await attempt(() => listSessionSummaries(home, null));
  await attempt(() => findSession(home, root, "abc"));
  await attempt(() => listUndoEntries({ home, root }));
  const calls = [
    { name: "list_directory", args: { path: root } },
    { name: "read_file", args: { absolute_path: join(root, "a.txt") } },
    { name: "search_file_content", args: { pattern: "words" } },
    { name: "run_shell_command", args: { command: "echo done" } },
    { name: "save_memory", args: { fact: "It rains." } },
  ];
  const model = scriptedModel([{ calls }, { text: "Done." }]);
  const environment = { ...process.env, BURIN_HOME: home, HOME: home };
  const session = createSession({ root, model, environment, approvalMode: "yolo", isTrusted: true });
  const events = await collectEvents(session.run("go"));
  await session.close();
  expect(events.at(-1)).toMatchObject({ type: "done" });
  return said;
}

describe.each(Object.entries(KINDS))(
  "in the place of a file that Burin reads by itself: %s",
  (_kind, make) => {
    it.each(IN_PROJECT)("harms nothing as %s of a project", async (name) => {
      plant(root, name, make);
      await useAll();
    });

    it.each(IN_HOME)("harms nothing as %s of a home", async (name) => {
      plant(home, name, make);
      await useAll();
    });
  },
);

describe("a file that Burin reads by itself", () => {
  it("is named with the reason where it cannot be followed", async () => {
    plant(home, "settings.json", KINDS.pipe ?? (() => {}));
    await expect(loadSettings({ home, root })).rejects.toThrow(
      `${home}/settings.json cannot be read: it is not a regular file`,
    );
    plant(home, "settings.json", KINDS["200 MB"] ?? (() => {}));
    await expect(loadSettings({ home, root })).rejects.toThrow("it is larger than 1 MB");
  });
});
