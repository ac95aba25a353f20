import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type ApprovalMode, type Confirmation, createToolbox, type Toolbox } from "@burin/core";
import { afterEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

makeFolders();

afterEach(async () => {
  await Promise.all(open.splice(0).map((toolbox) => toolbox.close()));
});

const NAMES = [
  ...[".git/hooks/pre-commit", ".git/config", ".git/info/attributes", "lib/.git/config", ".husky/pre-commit"],
  ...[".env", ".env.local", "packages/a/.env", ".envrc", ".bashrc", ".zshenv", ".profile", ".gitconfig"],
  ...[".burin/settings.json", ".burinignore", "lib/.burinignore", ".mcp.json", ".vscode/tasks.json"],
  ...[".idea/workspace.xml", ".claude/settings.json", ".cursor/mcp.json", ".npmrc", ".yarnrc.yml"],
  ...[".pre-commit-config.yaml", "lefthook.yml", ".ssh/config", "a.code-workspace", ".devcontainer/x.json"],
];

/** Everything that could allow a change without a question, but for yolo. */
const ALLOWING = {
  permissions: { allow: ["edit", "write_file", "run_shell_command", "edit(**)", "write_file(**)"] },
};

interface Call {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

const open: Toolbox[] = [];

/** Calls whose question is open while a link takes a name of theirs to a file that only the user may change. */
const REDIRECTED = [
  ["edit", "src", { file_path: "src/pre-commit", old_string: "two", new_string: "canary" }],
  ["write_file", "src", { file_path: "src/pre-commit", content: "canary\n" }],
  ["write_file", "src", { file_path: "src/post-merge", content: "canary\n" }],
  ["save_memory", "AGENTS.md", { fact: "canary" }],
] as const;

/** Calls twice, answering the first question with always: whether it was asked about, and how each call ended. Closed at once, before it prepares for more. */
function attempter(approvalMode: ApprovalMode) {
  const asked: Confirmation[] = [];
  const toolbox = createToolbox({
    root,
    approvalMode,
    overwriteUnread: true,
    environment: { ...process.env, BURIN_HOME: join(root, "..", `.home-${root.slice(-6)}`) },
    settings: { ...ALLOWING, sandbox: { mode: "off" } },
    confirm: (question) => {
      asked.push(question);
      return Promise.resolve(
        asked.length === 1 ? { outcome: "always", scope: "session" } : { outcome: "cancel" },
      );
    },
  });
  return async ({ tool, args }: Call) => {
    const first = await toolbox.call(tool, args);
    const second = await toolbox.call(tool, args);
    await toolbox.close();
    return { asked, first, second };
  };
}

function prepared(name: string): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "before\n");
  symlinkSync(file, join(root, "harmless.txt"));
  mkdirSync(join(root, "sub"));
  symlinkSync(dirname(file), join(root, "sub", "folder"));
  return file;
}

function attemptsOn(name: string): Call[] {
  const write = (path: string) => ({
    tool: "write_file",
    args: { file_path: join(root, path), content: `${Math.random()}\n` },
  });
  const edit = {
    tool: "edit",
    args: { file_path: join(root, "harmless.txt"), old_string: "before", new_string: "x" },
  };
  const commands = [
    `echo x > ${name}`,
    "echo x >> harmless.txt",
    "tee harmless.txt",
    "cp /dev/null harmles*",
  ];
  // A link to a folder speaks of the file in it only where the name itself says what it is.
  const linked =
    dirname(name) === "." ? [] : [write(join("sub/folder", name.slice(dirname(name).length + 1)))];
  return [
    write(name),
    write("harmless.txt"),
    edit,
    ...linked,
    ...commands.map((command) => ({ tool: "run_shell_command", args: { command } })),
  ];
}

describe("protected files, with every rule and an always against them", () => {
  it.each(NAMES)("P21 %s is asked about each time, straight and through links", async (name) => {
    const file = prepared(name);
    for (const mode of ["default", "auto-edit"] as const) {
      for (const { tool, args } of attemptsOn(name)) {
        writeFileSync(file, "before\n");
        const { asked, second } = await attempter(mode)({ tool, args });
        const what = JSON.stringify([mode, args]);
        expect(asked.length, what).toBe(tool === "edit" ? 1 : 2);
        expect(asked[0]?.grants, what).toEqual([]);
        expect(second.error, what).toBeDefined();
      }
    }
  });

  it.each(NAMES)("P14 P21 %s is refused in plan mode and left alone", async (name) => {
    const file = prepared(name);
    for (const call of attemptsOn(name)) {
      const { asked, first } = await attempter("plan")(call);
      expect(asked).toEqual([]);
      expect(first.error?.type).toBe("denied");
    }
    expect(readFileSync(file, "utf8")).toBe("before\n");
  });

  it("an explicit yolo changes them", async () => {
    prepared(".env");
    const args = { file_path: join(root, "harmless.txt"), content: "x\n" };
    expect((await attempter("yolo")({ tool: "write_file", args })).asked).toEqual([]);
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("x\n");
  });

  it.each(["AGENTS.md", ".env.example", ".gitignore", "src/git/config.ts", "environment.ts"])(
    "P22 %s is ordinary work",
    async (name) => {
      prepared(name);
      for (const call of attemptsOn(name)) {
        writeFileSync(join(root, name), "before\n");
        expect((await attempter("default")(call)).asked, JSON.stringify(call)).toEqual([]);
      }
      expect(existsSync(join(root, name))).toBe(true);
    },
  );

  it.each(REDIRECTED)(
    "P21 P25 %s writes nothing where %s has become a link to while its question was open",
    async (tool, name, params) => {
      const hooks = join(root, ".git/hooks");
      for (const folder of [hooks, join(root, "src")]) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "pre-commit"), "one\ntwo\nthree\n");
      }
      writeFileSync(join(root, "AGENTS.md"), "three\n");
      const confirm = () => {
        renameSync(join(root, name), join(root, "before"));
        symlinkSync(name === "src" ? hooks : join(hooks, "pre-commit"), join(root, name));
        return Promise.resolve({ outcome: "once" } as const);
      };
      const environment = { ...process.env, BURIN_HOME: join(root, "..", `.home-${root.slice(-6)}`) };
      const toolbox = createToolbox({ root, confirm, environment, settings: { sandbox: { mode: "off" } } });
      open.push(toolbox);
      const path = "file_path" in params ? { file_path: join(root, params.file_path) } : {};
      expect((await toolbox.call(tool, { ...params, ...path })).error).toBeDefined();
      expect(readdirSync(hooks)).toEqual(["pre-commit"]);
      expect(readFileSync(join(hooks, "pre-commit"), "utf8")).toBe("one\ntwo\nthree\n");
    },
  );
});
