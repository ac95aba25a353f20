import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Confirmation, Question, Toolbox } from "@burin/core";
import { createToolbox } from "@burin/core";
import { createVisibleFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let home: string;
let root: string;
let toolbox: Toolbox;
let questions: Question[];

const git = (...words: string[]) => execFileSync("git", ["-C", root, ...words], { encoding: "utf8" });

beforeEach(() => {
  const base = createVisibleFolder();
  home = join(base, "home");
  root = join(base, "project");
  for (const folder of [home, join(root, "data"), join(root, "node_modules")])
    mkdirSync(folder, { recursive: true });
  execFileSync("git", ["init", "-q", root]);
  writeFileSync(join(root, ".gitignore"), "data/\nnode_modules/\n*.big\n");
  writeFileSync(join(root, "a.txt"), "a\n");
  writeFileSync(join(root, "node_modules", "made.js"), "1\n");
  // Undo keeps no copy of so large a file that git ignores.
  writeFileSync(join(root, "data", "table.db"), Buffer.alloc(3_000_000));
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one");
  toolbox = openToolbox();
});

afterEach(() => toolbox.close());

function openToolbox(settings = {}): Toolbox {
  questions = [];
  return createToolbox({
    root,
    settings,
    record: true,
    approvalMode: "auto",
    environment: { PATH: process.env.PATH, HOME: home, BURIN_HOME: join(home, ".burin") },
    confirm: async (_confirmation, _signal, question) => {
      questions.push(question);
      return { outcome: "cancel" };
    },
  });
}

const run = (command: string) => toolbox.run("run_shell_command", { command });

describe("R50 P22 the mode auto", requirePrograms("bwrap"), () => {
  it.each([
    "echo new > b.txt && sed -i s/a/b/ a.txt",
    "git checkout -q -b other && git rm -q a.txt",
    "rm -rf node_modules",
    "git reset -q --hard; git clean -fdq",
    "for i in 1 2 3; do echo $i > $i.txt; done",
  ])("runs unasked: %s", async (command) => {
    expect(await run(command)).toMatchObject({ status: "success" });
    expect(questions).toEqual([]);
  });

  it.each([
    "rm -rf data",
    "rm -rf .",
    "git clean -fdxq",
    "find . -name '*.db' -delete",
    "echo x > ../outside.txt",
    "git push",
    "echo x > .envrc",
  ])("asks, and does nothing after a no: %s", async (command) => {
    await run(command);
    expect(questions).toHaveLength(1);
    expect(existsSync(join(root, "data", "table.db"))).toBe(true);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("keeps a script from what undo could not give back", async () => {
    writeFileSync(join(root, "s.sh"), "rm -rf data\necho over > data/table.db\necho done > c.txt\n");
    await run("sh s.sh");
    expect(questions).toEqual([]);
    expect(readFileSync(join(root, "data", "table.db")).length).toBe(3_000_000);
    expect(readFileSync(join(root, "c.txt"), "utf8")).toBe("done\n");
  });

  it("lets a command change and remove the large ignored files that earlier ones made", async () => {
    const made = join(root, "data", "test.db");
    await run("head -c 3000000 /dev/zero > data/test.db");
    expect(await run("echo more >> data/test.db")).toMatchObject({ data: { exitCode: 0 } });
    expect(await run("echo more >> data/test.db")).toMatchObject({ data: { exitCode: 0 } });
    expect(readFileSync(made).length).toBe(3_000_010);
    writeFileSync(join(root, "s.sh"), "rm data/test.db\n");
    expect(await run("sh s.sh")).toMatchObject({ data: { exitCode: 0 } });
    expect(questions).toEqual([]);
    expect(existsSync(made)).toBe(false);
  });

  it("protects what the user put into a deep ignored folder that a command had made", async () => {
    const deep = "data/1/2/3/4/5/6/7/8";
    await run(`mkdir -p ${deep}`);
    writeFileSync(join(root, deep, "work.txt"), "by hand");
    writeFileSync(join(root, "s.sh"), "rm -rf data/1\n");
    await run("sh s.sh");
    expect(readFileSync(join(root, deep, "work.txt"), "utf8")).toBe("by hand");
  });

  it("protects what the user wrote into a file that a command had made", async () => {
    await run("head -c 3000000 /dev/zero > data/test.db");
    appendFileSync(join(root, "data", "test.db"), "by hand");
    const { llmContent } = await run("echo more >> data/test.db");
    expect(llmContent).toContain(
      `A command that runs unasked cannot write what undo could not bring back: ${join(root, "data", "table.db")}`,
    );
    expect(readFileSync(join(root, "data", "test.db"), "utf8")).toMatch(/by hand$/);
  });

  it("works as auto-edit where commands have the whole network", async () => {
    await toolbox.close();
    toolbox = openToolbox({ sandbox: { network: true } });
    await run("echo x > b.txt");
    expect(questions).toHaveLength(1);
  });

  it("works as auto-edit without a sandbox, and says so once", async () => {
    await toolbox.close();
    toolbox = openToolbox({ sandbox: { mode: "off" } });
    await run("echo x > b.txt");
    await run("echo y > c.txt");
    expect(questions).toHaveLength(2);
    expect(await toolbox.run("write_file", { file_path: join(root, "d.txt"), content: "x" })).toMatchObject({
      status: "success",
    });
  });

  it("works as auto-edit where nothing is kept for undo", async () => {
    await toolbox.close();
    const environment = { PATH: process.env.PATH, HOME: home, BURIN_HOME: join(home, ".burin") };
    questions = [];
    const confirm = async (_confirmation: Confirmation, _signal: AbortSignal, question: Question) => {
      questions.push(question);
      return { outcome: "cancel" } as const;
    };
    toolbox = createToolbox({ root, approvalMode: "auto", environment, confirm });
    await run("echo x > b.txt");
    expect(questions).toHaveLength(1);
  });
});
