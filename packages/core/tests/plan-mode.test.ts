import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type AgentEvent, BaseTool, createSession, type Session, type ToolKind } from "@burin/core";
import { scriptedModel, type ToolCall } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let base: string;
let root: string;
let session: Session | undefined;

beforeEach(() => {
  base = createTemporaryFolder();
  root = join(base, "project");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "a.txt"), "alpha\n");
  writeFileSync(join(root, "src/b.txt"), "beta\n");
  const git = (...words: string[]) => execFileSync("git", words, { cwd: root });
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one");
  // Now the index is out of date, and git would put it right as it looks.
  utimesSync(join(root, "a.txt"), 1, 1);
});

afterEach(async () => {
  await session?.close();
});

/** Names, kinds, modes, times and bytes of everything below a folder, the git folder included. */
function hashOf(folder: string): string {
  const hash = createHash("sha256");
  const visit = (path: string) => {
    const stats = lstatSync(path);
    hash.update(`${path}\0${stats.mode}\0${stats.isDirectory() ? "" : stats.mtimeMs}\0`);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
    else for (const name of readdirSync(path).sort()) visit(join(path, name));
  };
  visit(folder);
  return hash.digest("hex");
}

/** A tool from outside; what it does to the tree it does without asking. */
class Foreign extends BaseTool {
  readonly displayName = "Foreign";
  readonly description = "Writes a file.";
  readonly parameterSchema = { type: "object" } as const;
  readonly name: string;
  readonly kind: ToolKind;

  constructor(kind: ToolKind) {
    super();
    this.kind = kind;
    this.name = `foreign_${kind}`;
  }

  getDescription(): string {
    return "Write a file";
  }

  execute() {
    if (this.kind !== "fetch") writeFileSync(join(root, "foreign"), "x");
    return Promise.resolve({ llmContent: "done", returnDisplay: "done" });
  }
}

/** What a command of the settings brings; a call of it would make a file of its name. */
const DISCOVERED = JSON.stringify([
  { name: "discovered", description: "Writes a file.", parameters: { type: "object", properties: {} } },
]);

const COMMANDS = [
  ...["touch new", "echo x > new", "echo x >> a.txt", "rm a.txt", "mv a.txt c", "cp a.txt c", "mkdir d"],
  ...["sed -i s/alpha/x/ a.txt", "tee new < a.txt", "find . -delete", "find . -name a.txt -exec rm {} +"],
  ...[
    "git commit --allow-empty -m x",
    "git checkout -- a.txt",
    "git reset --hard",
    "git stash",
    "git add a.txt",
  ],
  ...[
    "ls && touch new",
    "ls; touch new",
    "ls | tee new",
    "cat $(touch new)",
    "cat <(touch new)",
    "ls & touch new",
  ],
  ...["eval 'touch new'", "sh -c 'touch new'", "xargs touch < a.txt", 'python3 -c \'open("new","w")\''],
  ...[
    "env touch new",
    "awk 'BEGIN{print > \"new\"}'",
    "sort -o a.txt a.txt",
    "node -e 1",
    "npm test",
    "make",
  ],
];

const READING = ["git status", "git diff", "git log -1", "ls -la", "cat a.txt | sort", "grep -r alpha ."];

/** Each tool that is not one for reading, in as many ways as it has. */
function attempts() {
  const shell = (command: string, more = {}) => ({ name: "run_shell_command", args: { command, ...more } });
  return [
    { name: "write_file", args: { file_path: join(root, "new"), content: "x" } },
    { name: "write_file", args: { file_path: join(root, "a.txt"), content: "x" } },
    { name: "edit", args: { file_path: join(root, "a.txt"), old_string: "alpha", new_string: "x" } },
    { name: "edit", args: { file_path: join(root, "new"), old_string: "", new_string: "x" } },
    { name: "save_memory", args: { fact: "The project has a file.", scope: "project" } },
    { name: "foreign_edit", args: {} },
    { name: "foreign_execute", args: {} },
    { name: "discovered", args: {} },
    ...COMMANDS.map((command) => shell(command)),
    shell("touch new", { is_background: true }),
    shell("touch new", { sandbox_exception: "unlimited" }),
    shell("touch new", { directory: "src" }),
  ];
}

async function played(
  calls: readonly { name: string; args: Record<string, unknown> }[],
  sandbox: "off" | "workspace-write" = "workspace-write",
) {
  const model = scriptedModel([{ calls }, { text: "done" }]);
  session = createSession({
    root,
    model,
    approvalMode: "plan",
    environment: { ...process.env, BURIN_HOME: join(base, "home") },
    tools: [new Foreign("edit"), new Foreign("execute"), new Foreign("fetch")],
    settings: {
      permissions: { allow: ["*"] },
      sandbox: { mode: sandbox },
      tools: { toolDiscoveryCommand: `echo '${DISCOVERED}'`, toolCallCommand: "touch" },
    },
    confirm: () => Promise.resolve({ outcome: "always", scope: "session" }),
  });
  const answered: ToolCall[] = [];
  const events: AgentEvent[] = [];
  for await (const event of session.run("try everything")) {
    events.push(event);
    if (event.type === "tool_call" && "llmContent" in event.call) answered.push(event.call);
  }
  expect(model.unusedLines()).toEqual([]);
  return answered;
}

describe("plan mode, with every rule and every yes against it", () => {
  it("P14 nothing that a model can call changes the tree", async () => {
    const calls = attempts();
    const before = hashOf(root);
    const answered = await played(calls);
    expect(hashOf(root)).toBe(before);
    expect(answered.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
    for (const call of answered) {
      expect([call.args, call.status]).toEqual([call.args, "error"]);
      expect(call.status === "error" && call.error.type, JSON.stringify(call.args)).toBe("denied");
    }
  });

  it("P14 every tool that can have an effect was among them", async () => {
    await played([{ name: "list_directory", args: { path: root } }]);
    const tried = new Set(attempts().map(({ name }) => name));
    const effective = session?.registry
      .getAllTools()
      .filter(({ kind }) => kind === "edit" || kind === "execute");
    expect(effective?.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });

  it.each(["off", "workspace-write"] as const)(
    "P14 sandbox %s: what reads and fetches goes on, and git's index stays as it is too",
    async (mode) => {
      const before = hashOf(root);
      const calls = [
        ...READING.map((command) => ({ name: "run_shell_command", args: { command } })),
        { name: "read_file", args: { absolute_path: join(root, "a.txt") } },
        { name: "foreign_fetch", args: {} },
      ];
      const answered = await played(calls, mode);
      expect(answered.map(({ args, status }) => [args, status])).toEqual(
        answered.map(({ args }) => [args, "success"]),
      );
      expect(hashOf(root)).toBe(before);
    },
  );
});
