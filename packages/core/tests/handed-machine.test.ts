import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, posix } from "node:path";
import { createSession, createToolbox, type ToolboxOptions } from "@burin/core";
import {
  type CommandRequest,
  type CommandsOptions,
  type FileSnapshot,
  type Machine,
  type MachineCommands,
  nodeMachine,
  type PathFacts,
  type RunningCommand,
  type ShellEnd,
  type Workspace,
  WorkspaceError,
} from "@burin/core/machine";
import { isAnswered, scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, describe, expect, it } from "vitest";

/** Files that are nowhere but in memory. */
class MemoryFiles implements Workspace {
  readonly root: string;
  readonly roots: readonly string[];
  readonly #files: Map<string, string>;
  readonly #seen = new Map<string, string>();

  constructor(root: string, files: Map<string, string>) {
    this.root = root;
    this.roots = [root];
    this.#files = files;
  }

  relative(path: string): string {
    return posix.relative(this.root, posix.resolve(this.root, path)) || ".";
  }

  async resolve(path: string): Promise<string> {
    const absolute = posix.resolve(this.root, path);
    if (absolute === this.root || absolute.startsWith(`${this.root}/`)) return absolute;
    throw new WorkspaceError("outside_root", `${absolute} is outside the root ${this.root}.`);
  }

  async #below(directory: string): Promise<string[]> {
    const folder = await this.resolve(directory);
    const names = [...this.#files.keys()].filter((path) => path.startsWith(`${folder}/`));
    return names.map((path) => path.slice(folder.length + 1)).sort();
  }

  async list(directory: string) {
    const path = await this.resolve(directory);
    if (this.#files.has(path)) throw new WorkspaceError("not_a_directory", `${path} is not a directory.`);
    const names = (await this.#below(directory)).map((one) => one.split("/"));
    if (names.length === 0) throw new WorkspaceError("not_found", `${path} does not exist.`);
    const folders = new Set(names.flatMap(([first = "", ...rest]) => (rest.length > 0 ? [first] : [])));
    const files = names.flatMap(([first = "", ...rest]) => (rest.length === 0 ? [first] : []));
    const entries = [
      ...[...folders].map((name) => ({ name, isDirectory: true })),
      ...files.map((name) => ({ name, isDirectory: false })),
    ];
    return { path, entries, gitIgnored: 0, ownIgnored: 0 };
  }

  async find(directory: string, { pattern }: { readonly pattern: string }) {
    const name = pattern.replace(/^.*\//, "").replace(/\W/g, "\\$&").replaceAll("\\*", "[^/]*");
    const found = (await this.#below(directory)).filter((path) => new RegExp(`(?:^|/)${name}$`).test(path));
    const files = await Promise.all(found.map((path) => this.resolve(posix.join(directory, path))));
    return { files, total: files.length, isPartial: false, unreadableFolders: 0 };
  }

  async search(directory: string, { pattern }: { readonly pattern: string }) {
    const expression = new RegExp(pattern, "i");
    const files = (await this.#below(directory)).map((path) => {
      const lines = (this.#files.get(posix.join(directory, path)) ?? "").split("\n");
      const hits = lines.map((text, index) => ({ number: index + 1, text, isHit: true }));
      return { path, lines: hits.filter(({ text }) => expression.test(text)) };
    });
    const hit = files.filter(({ lines }) => lines.length > 0);
    const hits = hit.reduce((sum, { lines }) => sum + lines.length, 0);
    return { files: hit, hits, hasMore: false, gaps: [] };
  }

  async read(file: string) {
    const path = await this.resolve(file);
    const text = this.#files.get(path);
    if (text === undefined) throw new WorkspaceError("not_found", `${path} does not exist.`);
    this.#seen.set(path, text);
    const totalLines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    return { kind: "text" as const, text, firstLine: 1, lastLine: totalLines, totalLines, linesCut: 0 };
  }

  async snapshot(file: string): Promise<FileSnapshot> {
    const path = await this.resolve(file);
    const text = this.#files.get(path) ?? null;
    const isSeen = text === null || this.#seen.get(path) === text;
    const version = createHash("sha256").update(`${path} ${text}`).digest("hex");
    return {
      exists: text !== null,
      version,
      text,
      seen: isSeen ? "all" : "nothing",
      bytes: text?.length ?? 0,
    };
  }

  async preview(file: string, content: string) {
    return { realPath: await this.resolve(file), before: await this.snapshot(file), after: content };
  }

  async write({ file, content, basis, isBasisAgreed }: Parameters<Workspace["write"]>[0]) {
    const before = await this.snapshot(file);
    if (before.version !== basis && isBasisAgreed) {
      throw new WorkspaceError("changed_on_disk", `${file} has changed since it was looked at.`);
    }
    if (!isBasisAgreed && before.seen !== "all")
      throw new WorkspaceError("not_read", `${file} was not read.`);
    const path = await this.resolve(file);
    this.#files.set(path, content);
    this.#seen.set(path, content);
    return { isNew: !before.exists, wasBasis: before.version === basis, notes: [] };
  }
}

/** A shell far away: all that is known of a command comes through one pipe. */
class PipedCommands {
  readonly #running: RunningCommand[] = [];

  run({ command }: CommandRequest): RunningCommand {
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "ignore"] });
    const pieces: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => void pieces.push(piece));
    let end: ShellEnd | null = null;
    const shellEnded = new Promise<ShellEnd>((resolve) => {
      child.once("close", (exitCode, signal) => {
        end = { exitCode, signal, wasNotStarted: false };
        resolve(end);
      });
    });
    const soFar = async () => {
      const head = Buffer.concat(pieces);
      const newlines = head.filter((byte) => byte === 0x0a).length;
      return { head, tail: Buffer.alloc(0), bytes: head.length, newlines, file: null, fileFault: null };
    };
    const run = {
      startedAt: Date.now(),
      shellEnded,
      get shellEnd() {
        return end;
      },
      get isOver() {
        return end !== null;
      },
      output: {
        get bytes() {
          return pieces.reduce((sum, { length }) => sum + length, 0);
        },
        soFar,
        flush: async () => {},
      },
      onLetGo: () => {},
      onOutput: () => {},
      members: async () => [],
      takenBack: async () => [],
      type: async () => false,
      quiet: async () => {},
      endAfter: () => {},
      end: async () => {
        child.kill("SIGKILL");
        await shellEnded;
        return [];
      },
    };
    this.#running.push(run);
    return run;
  }

  open(options: CommandsOptions): MachineCommands {
    const none = async () => [];
    const unable = async () => {
      throw new Error("Nothing but commands runs there.");
    };
    return {
      shell: { kind: "sh", title: "sh", path: "sh", args: ["-c"], isVerbatim: false },
      roots: options.roots,
      hasTerminal: false,
      hasNetwork: true,
      hasNetworkFor: () => true,
      sandbox: async () => ({ sandbox: null, reason: "it is a shell far away" }),
      start: async (request) => this.run(request),
      keep: async () => "far_1",
      backgrounds: none,
      foreground: none,
      startServer: unable,
      exchange: unable,
      endLeftBehind: async () => 0,
      close: async () => (await Promise.all(this.#running.map((run) => run.end()))).flat(),
    };
  }
}

/** Every answer of it has to be waited for. */
function farMachine(files: Map<string, string>): Machine {
  const facts: PathFacts = {
    leadsOutside: async (path) => path.endsWith("/link"),
    realPaths: async (path) => [path],
    filesBelow: async () => [],
    treeBelow: async () => ({ linksOut: [], oddNames: [] }),
    oddNamesInGit: async () => [],
    pathsInGit: async () => [],
    projectFolderOf: async () => null,
    repositoryFault: async () => null,
  };
  return {
    openFiles: (root) => new MemoryFiles(root, files),
    openCommands: (options) => new PipedCommands().open(options),
    openFacts: async () => facts,
  };
}

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function placeOn(machine: Machine) {
  const base = createTemporaryFolder();
  const root = machine === nodeMachine ? join(base, "project") : "/far/project";
  if (machine === nodeMachine) mkdirSync(root);
  const environment = { ...process.env, BURIN_HOME: join(base, "home") };
  const settings = { sandbox: { mode: "off" as const } };
  return { root, machine, environment, settings, approvalMode: "yolo" as const };
}

function opened(options: ToolboxOptions) {
  const toolbox = createToolbox(options);
  closing.push(() => toolbox.close());
  const call = async (name: string, args: Readonly<Record<string, unknown>>) => {
    const { llmContent, error } = await toolbox.call(name, args);
    return { text: String(llmContent).replaceAll(options.root, "ROOT"), type: error?.type };
  };
  return { root: options.root, call, explain: toolbox.explain };
}

describe.each([
  ["this computer", () => nodeMachine],
  ["one that is handed in", () => farMachine(new Map())],
])("the tools on %s", (_name, machine) => {
  it("R8 write, read, edit, list, find, search and run", async () => {
    const { root, call } = opened(placeOn(machine()));
    const file = `${root}/src/a.ts`;
    const content = "const one = 1;\nconst two = 2;\n";
    expect((await call("write_file", { file_path: file, content })).type).toBeUndefined();
    expect(await call("read_file", { absolute_path: file })).toEqual({ text: content, type: undefined });
    const edit = { file_path: file, old_string: "const two = 2;", new_string: "const two = 3;" };
    expect((await call("edit", edit)).text).toBe(
      "Successfully modified file: ROOT/src/a.ts (1 replacements).\nThe changed lines now:\nL1: const one = 1;\nL2: const two = 3;",
    );
    expect((await call("edit", edit)).type).toBe("no_occurrence");
    expect((await call("list_directory", { path: root })).text).toContain("[DIR] src");
    expect((await call("glob", { pattern: "*.ts" })).text).toContain("ROOT/src/a.ts");
    expect((await call("search_file_content", { pattern: "two" })).text).toContain("two = 3;");
    expect((await call("read_many_files", { paths: ["src/*.ts"] })).text).toContain("const two = 3;");
    const ran = await call("run_shell_command", { command: "echo from there; exit 3" });
    expect(ran.text).toMatch(/^Exit code: 3\n[\s\S]*Output:\nfrom there\n$/);
    expect((await call("read_file", { absolute_path: "/elsewhere/b.ts" })).type).toBe("outside_root");
  });

  it("P2 a change is made to the version that it was made for", async () => {
    const place = placeOn(machine());
    const { root, call } = opened({ ...place, overwriteUnread: true });
    const file = `${root}/a.txt`;
    await call("write_file", { file_path: file, content: "one\n" });
    const asking = opened({
      ...place,
      approvalMode: "default",
      confirm: async () => {
        await call("write_file", { file_path: file, content: "changed by another\n" });
        return { outcome: "once" };
      },
    });
    const edit = { file_path: file, old_string: "one", new_string: "two" };
    expect((await asking.call("edit", edit)).type).toBe("changed_on_disk");
    expect((await call("read_file", { absolute_path: file })).text).toBe("changed by another\n");
  });
});

it("R8 approval waits for what the machine that is handed in knows of a place", async () => {
  const { explain } = opened({ ...placeOn(farMachine(new Map())), approvalMode: "default" });
  expect((await explain("cat a.txt")).verdict).toBe("allow");
  expect((await explain("cat link")).verdict).toBe("ask");
  expect((await explain("git status && cat a.txt")).verdict).toBe("allow");
});

it("R8 facts of a machine that is handed in may be an object of a class", async () => {
  const machine = farMachine(new Map());
  const facts = await machine.openFacts({ roots: [], environment: {}, passEnvironment: [] });
  class Facts {
    readonly links = ["/far/project/other"];
    leadsOutside(path: string) {
      return this.links.includes(path);
    }
  }
  const openFacts = async () =>
    Object.assign(new Facts(), { ...facts, leadsOutside: Facts.prototype.leadsOutside });
  const { explain } = opened({ ...placeOn({ ...machine, openFacts }), approvalMode: "default" });
  expect((await explain("cat a.txt")).verdict).toBe("allow");
  expect((await explain("cat other")).verdict).toBe("ask");
});

it("R8 a session works on the machine that is handed in, from the first call to the last", async () => {
  const files = new Map([["/far/project/a.txt", "one\n"]]);
  const place = placeOn(farMachine(files));
  const calls = [
    { name: "read_file", args: { absolute_path: "/far/project/a.txt" } },
    { name: "edit", args: { file_path: "/far/project/a.txt", old_string: "one", new_string: "two" } },
    { name: "run_shell_command", args: { command: "echo from there" } },
  ];
  const model = scriptedModel([...calls.map((call) => ({ calls: [call] })), { text: "done" }]);
  const session = createSession({ ...place, model });
  closing.push(() => session.close());
  const answers: string[] = [];
  let status = "";
  for await (const event of session.run("change it")) {
    if (event.type === "tool_call" && isAnswered(event.call)) answers.push(String(event.call.llmContent));
    if (event.type === "done") status = event.status;
  }
  expect(answers).toEqual([
    "one\n",
    expect.stringContaining("Successfully modified file"),
    expect.stringContaining("from there"),
  ]);
  expect(status).toBe("success");
  expect(files).toEqual(new Map([["/far/project/a.txt", "two\n"]]));
});
