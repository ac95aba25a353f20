import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { createToolbox, type Toolbox, type ToolboxOptions } from "@burin/core";
import { type ExecFunction, type MachineFunctions, machineOf, WorkspaceError } from "@burin/core/machine";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, describe, expect, it } from "vitest";

const opened: Toolbox[] = [];
afterEach(() => Promise.all(opened.splice(0).map((toolbox) => toolbox.close())));

/** Files that are nowhere but in memory: names alone are known of a folder. */
function memory(files: Map<string, string>): MachineFunctions & { readonly written: string[] } {
  const isFolder = (path: string) => [...files.keys()].some((one) => one.startsWith(`${path}/`));
  const written: string[] = [];
  return {
    written,
    readFile: async (path) => {
      const text = files.get(path);
      if (text === undefined) throw Object.assign(new Error("no such key"), { code: "ENOENT" });
      return text;
    },
    writeFile: async (path, content) => {
      written.push(path);
      files.set(path, Buffer.from(content).toString());
    },
    stat: async (path) => {
      const text = files.get(path);
      if (text !== undefined) return { isDirectory: false, size: text.length };
      return isFolder(path) ? { isDirectory: true } : null;
    },
    readdir: async (path) => [...new Set([...files.keys()].flatMap((one) => inFolder(one, path)))],
  };
}

function inFolder(file: string, folder: string): string[] {
  const below = posix.relative(folder, file);
  return below.startsWith("..") || below === "" ? [] : [below.split("/")[0] ?? ""];
}

function open(machine: MachineFunctions, options: Partial<ToolboxOptions> = {}) {
  const home = createTemporaryFolder();
  const settings = { sandbox: { mode: "off" as const }, ...options.settings };
  const toolbox = createToolbox({
    root: "/far/project",
    approvalMode: "auto-edit",
    environment: { ...process.env, BURIN_HOME: home },
    ...options,
    settings,
    machine: machineOf(machine),
  });
  opened.push(toolbox);
  const call = async (name: string, params: Readonly<Record<string, unknown>>) => {
    const { llmContent, error, data } = await toolbox.call(name, params);
    return { text: String(llmContent), type: error?.type, data };
  };
  return { toolbox, call };
}

const file = (name: string) => `/far/project/${name}`;

describe("a machine of four functions", () => {
  it("R8 R48 writes, reads, edits, lists, finds and searches as this computer does", async () => {
    const files = new Map([[file("src/b.ts"), "const two = 2;\n"]]);
    const { call } = open(memory(files));
    await call("write_file", { file_path: file("src/a.ts"), content: "const one = 1;\n" });
    expect(files.get(file("src/a.ts"))).toBe("const one = 1;\n");
    expect((await call("read_file", { absolute_path: file("src/b.ts") })).text).toBe("const two = 2;\n");
    const edit = { file_path: file("src/b.ts"), old_string: "two = 2", new_string: "two = 3" };
    expect((await call("edit", edit)).data).toMatchObject({ changedFiles: [{ addedLines: 1 }] });
    expect(files.get(file("src/b.ts"))).toBe("const two = 3;\n");
    expect((await call("list_directory", { path: "." })).text).toContain("src");
    expect((await call("glob", { pattern: "*.ts" })).text).toContain(file("src/a.ts"));
    const found = await call("search_file_content", { pattern: "const \\w+", include: "*.ts" });
    expect(found.data).toMatchObject({ hits: 2 });
    expect(found.text).toMatch(/src\/a\.ts[\s\S]*const one[\s\S]*src\/b\.ts[\s\S]*two = 3/);
    expect((await call("read_many_files", { paths: ["src/*.ts"] })).text).toContain("const one = 1;");
  });

  it("R48 keeps to the root, also where a path goes up or a machine names odd files", async () => {
    const files = new Map([
      [file("a.txt"), "a"],
      ["/far/secret.txt", "needle"],
    ]);
    const machine = memory(files);
    const odd = {
      ...machine,
      readdir: async (path: string) => [...(await machine.readdir(path)), "../secret.txt", ".."],
    };
    const { call } = open(odd);
    for (const path of ["/far/secret.txt", `${file("sub")}/../../secret.txt`, "/far/project-evil/x"]) {
      expect((await call("read_file", { absolute_path: path })).type).toBe("outside_root");
      expect((await call("write_file", { file_path: path, content: "x" })).type).toBe("outside_root");
    }
    expect((await call("search_file_content", { pattern: "needle" })).text).not.toContain("secret");
    expect(machine.written).toEqual([]);
  });

  it("R48 follows ignore files and deny rules", async () => {
    const files = new Map([
      [file(".gitignore"), "*.log\n"],
      [file(".burinignore"), "hidden/\n"],
      [file("sub/.gitignore"), "!keep.log\nbuild\n"],
      [file("a.log"), "needle"],
      [file("hidden/b.txt"), "needle"],
      [file("sub/keep.log"), "needle"],
      [file("sub/build/c.txt"), "needle"],
      [file("secret.env"), "needle"],
      [file("node_modules/d.txt"), "needle"],
    ]);
    const { call } = open(memory(files), { settings: { permissions: { deny: ["read_file(*.env)"] } } });
    const { text } = await call("search_file_content", { pattern: "needle" });
    expect(text).toContain("sub/keep.log");
    for (const name of ["a.log", "b.txt", "c.txt", "secret.env", "d.txt"]) expect(text).not.toContain(name);
    expect((await call("read_file", { absolute_path: file("hidden/b.txt") })).type).toBe("ignored");
    expect((await call("read_file", { absolute_path: file("secret.env") })).type).toMatch(/denied/);
    expect((await call("read_file", { absolute_path: file("a.log") })).text).toBe("needle");
  });

  it("R88 says that ignored files match only where some do and nothing else does", async () => {
    const files = new Map([
      [file(".gitignore"), "*.log\ngen/\n"],
      [file(".burinignore"), "own.log\n"],
      [file("a.txt"), "one\n"],
      [file("b.log"), "two\n"],
      [file("own.log"), "three\n"],
      [file("gen/deep/c.txt"), "four\n"],
    ]);
    const { call } = open(memory(files));
    const note = "Files that git ignores have matches";
    for (const [pattern, isSaid] of [
      ["two", true],
      ["four", true],
      ["three", false],
      ["five", false],
      ["one|two", false],
    ] as const) {
      const { text } = await call("search_file_content", { pattern });
      expect([pattern, text.includes(note), text.includes("git ignores")]).toEqual([pattern, isSaid, isSaid]);
    }
  });

  it("R48 takes any usual way of saying that nothing is there", async () => {
    const texts = new Map([[file("a.txt"), "needle\n"]]);
    const machine = memory(texts);
    const ways: Partial<MachineFunctions>[] = [
      { readFile: async (path) => texts.get(path) as string },
      {
        readFile: async (path) => {
          const text = texts.get(path);
          if (text === undefined) throw new WorkspaceError("not_found", `${path} is not there.`);
          return text;
        },
        stat: async (path) => {
          const found = await machine.stat(path);
          if (!found) throw new WorkspaceError("not_found", `${path} is not there.`);
          return found;
        },
      },
      { stat: async (path) => (await machine.stat(path)) ?? undefined },
    ];
    for (const way of ways) {
      const { call } = open({ ...machine, ...way });
      expect((await call("search_file_content", { pattern: "needle" })).data).toMatchObject({ hits: 1 });
      expect((await call("read_file", { absolute_path: file("none.txt") })).type).toBe("not_found");
      const path = file(`new-${ways.indexOf(way)}.txt`);
      expect((await call("write_file", { file_path: path, content: "x" })).type).toBeUndefined();
      expect(texts.get(path)).toBe("x");
    }
  });

  it("R48 does not overwrite what was not read, or has changed since", async () => {
    const files = new Map([[file("a.txt"), "one\n"]]);
    const { call } = open(memory(files));
    const write = (content: string) => call("write_file", { file_path: file("a.txt"), content });
    expect((await write("two\n")).type).toBe("not_read");
    await call("read_file", { absolute_path: file("a.txt") });
    files.set(file("a.txt"), "somebody else\n");
    expect((await write("two\n")).type).toBe("changed_on_disk");
    await call("read_file", { absolute_path: file("a.txt") });
    expect((await write("two\n")).type).toBeUndefined();
    expect(files.get(file("a.txt"))).toBe("two\n");
  });

  it("R48 keeps line ends and encoding of what it changes", async () => {
    const folder = realpathSync(createTemporaryFolder());
    writeFileSync(join(folder, "a.txt"), Buffer.from("caf\xe9\r\nzwei\r\n", "latin1"));
    const { call } = open({ readFile, writeFile, stat, readdir, realpath }, { root: folder });
    await call("edit", { file_path: join(folder, "a.txt"), old_string: "zwei", new_string: "drei" });
    expect(readFileSync(join(folder, "a.txt")).toString("latin1")).toBe("caf\xe9\r\ndrei\r\n");
  });

  it("R48 goes through no link that leads out, where the machine knows links", async () => {
    const base = realpathSync(createTemporaryFolder());
    const folder = join(base, "project");
    mkdirSync(join(folder, "sub"), { recursive: true });
    writeFileSync(join(base, "outside.txt"), "needle\n");
    writeFileSync(join(folder, "sub/in.txt"), "needle\n");
    symlinkSync(join(base, "outside.txt"), join(folder, "link.txt"));
    symlinkSync(base, join(folder, "up"));
    symlinkSync(join(base, "new.txt"), join(folder, "dangling.txt"));
    const { call } = open({ readFile, writeFile, stat, readdir, realpath }, { root: folder });
    for (const name of ["link.txt", "up/outside.txt"])
      expect((await call("read_file", { absolute_path: join(folder, name) })).type).toBe("outside_root");
    const dangling = { file_path: join(folder, "dangling.txt"), content: "x" };
    expect((await call("write_file", dangling)).type).toBe("not_a_regular_file");
    const found = await call("search_file_content", { pattern: "needle" });
    expect(found.text).toContain("sub/in.txt");
    expect(found.data).toMatchObject({ hits: 1 });
  });

  it("R48 writes of one file come one after the other", async () => {
    const files = new Map([[file("a.txt"), ""]]);
    const machine = memory(files);
    const slow = {
      ...machine,
      writeFile: async (path: string, content: Uint8Array) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return machine.writeFile(path, content);
      },
    };
    const boxes = [open(slow), open(slow)];
    const edits = await Promise.all(
      boxes.map(({ call }, index) =>
        call("edit", { file_path: file("a.txt"), old_string: "", new_string: `line ${index}\n` }),
      ),
    );
    const done = edits.filter(({ type }) => type === undefined);
    expect(done.length).toBeGreaterThan(0);
    expect(files.get(file("a.txt"))?.trimEnd().split("\n")).toHaveLength(done.length);
  });

  it("R4 has no tool for commands without exec, and says what a machine lacks", async () => {
    const { toolbox } = open(memory(new Map()));
    expect(toolbox.tools().map(({ name }) => name)).not.toContain("run_shell_command");
    expect((await toolbox.call("run_shell_command", { command: "ls" })).error?.type).toBe("unknown_tool");
    const { readdir: _, ...three } = memory(new Map());
    expect(() => Reflect.apply(machineOf, null, [three])).toThrow('machineOf needs a function "readdir".');
  });

  it("R11 a failure of the machine is an answer, and names the file", async () => {
    const files = new Map([[file("a.txt"), "a"]]);
    const working = memory(files);
    const broken: MachineFunctions = {
      ...working,
      readFile: async (path) => {
        if (path === file("a.txt")) throw new Error("connection lost");
        return working.readFile(path);
      },
    };
    const { call } = open(broken);
    const answer = await call("read_file", { absolute_path: file("a.txt") });
    expect(answer).toMatchObject({ type: "io_error" });
    expect(answer.text).toContain("a.txt could not be reached: connection lost");
    const own = {
      ...memory(files),
      writeFile: async () => Promise.reject(new WorkspaceError("read_only", "No.")),
    };
    const write = { file_path: file("new.txt"), content: "x" };
    expect(await open(own).call("write_file", write)).toMatchObject({ type: "read_only", text: "No." });
  });
});

/** The shell of this computer, as if it were far away. */
const exec: ExecFunction = (command, { cwd, signal, onOutput }) =>
  new Promise((resolve) => {
    const child = execFile("sh", ["-c", command], { cwd, signal, killSignal: "SIGKILL" }, (error) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      resolve({ exitCode: code, signal: child.signalCode });
    });
    child.stdout?.on("data", onOutput);
    child.stderr?.on("data", onOutput);
  });

describe("a machine with exec", () => {
  function withExec(options: Partial<ToolboxOptions> = {}) {
    const base = realpathSync(createTemporaryFolder());
    const root = join(base, "project");
    mkdirSync(root);
    writeFileSync(join(base, "secret.txt"), "secret\n");
    symlinkSync(join(base, "secret.txt"), join(root, "link"));
    writeFileSync(join(root, "a.txt"), "a\n");
    const whole = async (path: string, content: Uint8Array) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    };
    return open({ readFile, writeFile: whole, stat, readdir, realpath, exec }, { root, ...options });
  }

  it("R8 runs commands, with output, exit code and folder", async () => {
    const { call } = withExec({ approvalMode: "yolo" });
    const ran = await call("run_shell_command", { command: "cat a.txt; echo oops >&2; exit 3" });
    expect(ran.text).toContain("a\n");
    expect(ran.text).toContain("oops");
    expect(ran.data).toMatchObject({ exitCode: 3 });
    const long = await call("run_shell_command", { command: "yes 0123456789 | head -n 20000" });
    expect(long.text).toMatch(/Output:\n0123456789\n/);
    expect(long.text).toContain("could not be kept");
  });

  it("R33 ends a command at its time limit, and shows one in the background", async () => {
    const { call } = withExec({ approvalMode: "yolo" });
    const late = await call("run_shell_command", { command: "echo begun; exec sleep 60", timeout: 1000 });
    expect(late).toMatchObject({ type: "timeout" });
    expect(late.text).toContain("begun");
    const back = await call("run_shell_command", { command: "echo up; exec sleep 60", is_background: true });
    const { background } = back.data ?? {};
    expect(background).toBe("bg_1");
    expect((await call("run_shell_command", { action: "list" })).text).toContain("bg_1");
    await call("run_shell_command", { action: "stop", background_id: "bg_1" });
    expect((await call("run_shell_command", { action: "output", background_id: "bg_1" })).text).toContain(
      "up",
    );
  });

  it("R50 asks for what leads out through a link there, and for what nobody knows", async () => {
    const asked: string[] = [];
    const confirm: ToolboxOptions["confirm"] = async (confirmation) => {
      asked.push(confirmation.kind === "exec" ? confirmation.command : confirmation.kind);
      return { outcome: "cancel" };
    };
    const { call } = withExec({ confirm, approvalMode: "default" });
    for (const command of ["cat a.txt", "cat *.txt", "cat link", "cat l*k", "git status", "rm a.txt"])
      await call("run_shell_command", { command });
    expect(asked).toEqual(["cat link", "cat l*k", "git status", "rm a.txt"]);
  });
});
