import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  type Confirmation,
  createSession,
  createToolbox,
  type Decision,
  type ToolboxOptions,
} from "@burin/core";
import { openAiCompatible } from "@burin/core/internal";
import { type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

let top = "";
let root = "";
let lib = "";

beforeEach(() => {
  top = realpathSync(createTemporaryFolder());
  createFile(top, "app/a.txt", "own\n");
  createFile(top, "lib/src/b.txt", "beside\n");
  createFile(top, "lib/.env", "KEY=1\n");
  [root, lib] = [join(top, "app"), join(top, "lib")];
});

function openToolbox(answer: Decision | null, options: Partial<ToolboxOptions> = {}) {
  const asked: Confirmation[] = [];
  const environment = {
    PATH: process.env.PATH,
    HOME: join(top, "home"),
    BURIN_HOME: join(top, "home/.burin"),
  };
  const confirm = (confirmation: Confirmation) => {
    asked.push(confirmation);
    return Promise.resolve(answer);
  };
  return { asked, toolbox: createToolbox({ root, environment, confirm, ...options }) };
}

describe("a folder beside the project", () => {
  it("R48 is opened for reading by one yes, for every reading tool, and for no writing one", async () => {
    const { asked, toolbox } = openToolbox({ outcome: "once" });
    const first = await toolbox.call("read_file", { path: join(lib, "src/b.txt") });
    expect(first.llmContent).toBe("beside\n");
    expect(asked).toMatchObject([{ kind: "info", folder: lib, prompt: "Read ../lib/src/b.txt", grants: [] }]);
    const calls = [
      ["list_directory", { path: lib }, "[DIR] src"],
      ["glob", { pattern: "*.txt", path: lib }, "lib/src/b.txt"],
      ["search_file_content", { pattern: "bes", path: lib }, "beside"],
      ["read_many_files", { paths: ["../lib/src/*.txt"] }, "beside"],
      ["read_many_files", { paths: [join(lib, "src/b.txt")] }, "beside"],
    ] as const;
    for (const [tool, args, wanted] of calls)
      expect(JSON.stringify((await toolbox.call(tool, args)).llmContent), tool).toContain(wanted);
    expect(asked).toHaveLength(1);
    const change = { file_path: join(lib, "new.txt"), content: "x" };
    expect((await toolbox.call("write_file", change)).error?.type).toBe("outside_root");
  });

  it.each([
    ["list_directory", () => ({ path: lib })],
    ["glob", () => ({ pattern: "*.txt", path: lib })],
    ["search_file_content", () => ({ pattern: "bes", path: lib })],
    ["read_many_files", () => ({ paths: [`${lib}/**`] })],
  ])("R48 is asked about by %s, too", async (tool, args) => {
    const { asked, toolbox } = openToolbox({ outcome: "once" });
    expect((await toolbox.call(tool, args())).error).toBeUndefined();
    expect(asked).toMatchObject([{ folder: lib }]);
  });

  it("R48 stays closed after a no, and is asked about again", async () => {
    const { asked, toolbox } = openToolbox({ outcome: "cancel", reason: "use ours" });
    const read = () => toolbox.call("read_file", { path: join(lib, "src/b.txt") });
    expect((await read()).llmContent).toContain("use ours");
    expect((await read()).status).toBe("cancelled");
    expect(asked).toHaveLength(2);
  });

  it("R48 is opened by no mode, rule or missing user", async () => {
    const allow = ["read_file", "read_file(../lib/**)"];
    const path = join(lib, "src/b.txt");
    for (const approvalMode of ["default", "yolo", "plan"] as const) {
      const environment = { BURIN_HOME: join(top, "home/.burin") };
      const alone = createToolbox({ root, environment, approvalMode, settings: { permissions: { allow } } });
      expect((await alone.call("read_file", { path })).error?.type).toBe("outside_root");
      const { asked, toolbox } = openToolbox({ outcome: "cancel" }, { approvalMode });
      expect((await toolbox.call("read_file", { path })).status).toBe("cancelled");
      expect(asked).toHaveLength(1);
    }
  });

  it("R48 P38 stays closed, without a question, where secrets may be and behind links", async () => {
    createFile(top, ".hidden/key", "secret");
    createFile(top, "home/.burin/keys.json", "secret");
    createFile(top, "vault/key", "secret");
    createFile(top, "file.txt", "no folder");
    symlinkSync(lib, join(root, "link"));
    const settings = { sandbox: { hide: [join(top, "vault")] } };
    const { asked, toolbox } = openToolbox({ outcome: "once" }, { settings });
    const places = [".hidden/key", "home/.burin/keys.json", "vault/key", "file.txt", "app/link/src/b.txt"];
    for (const path of [...places.map((one) => join(top, one)), "/etc/hostname"])
      expect((await toolbox.call("read_file", { path })).error?.type, path).toBe("outside_root");
    expect(asked).toEqual([]);
  });

  it("R48 keeps the deny rules and the ignore files of the project", async () => {
    createFile(lib, ".burinignore", "private/\n");
    createFile(lib, "private/c.txt", "beside\n");
    const { toolbox } = openToolbox(
      { outcome: "once" },
      { settings: { permissions: { deny: ["read_file(**/.env)"] } } },
    );
    const call = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify((await toolbox.call(name, args)).llmContent);
    expect(await call("read_file", { path: join(lib, "src/b.txt") })).toContain("beside");
    expect(await call("read_file", { path: join(lib, ".env") })).toContain("deny");
    expect(await call("read_file", { path: join(lib, "private/c.txt") })).toContain("hidden from all tools");
    const found = await call("search_file_content", { pattern: "KEY|beside", path: lib });
    expect(found).toContain("src/b.txt");
    expect(found).not.toMatch(/KEY=1|private/);
  });

  it("R31 R48 several calls that wait for the same folder ask once", async () => {
    const replies: FakeReply[] = [
      { calls: [1, 2, 3].map(() => ({ name: "read_file", args: { path: join(lib, "src/b.txt") } })) },
      { text: "done" },
    ];
    const server = await startFakeModelServer(replies);
    let asked = 0;
    const session = createSession({
      root,
      home: false,
      model: openAiCompatible({ name: "fake", baseUrl: server.baseUrl }),
      confirm: async () => {
        asked += 1;
        return { outcome: "once" };
      },
    });
    try {
      await collectEvents(session.run("read"));
      expect(JSON.stringify(session.history).match(/beside\\n/g)).toHaveLength(3);
      expect(asked).toBe(1);
    } finally {
      await session.close();
      await server.close();
    }
  });

  it("R48 that the user opens needs no question, and the model learns of it", async () => {
    const server = await startFakeModelServer([
      { calls: [{ name: "read_file", args: { path: join(lib, "src/b.txt") } }] },
      { text: "done" },
    ]);
    const model = openAiCompatible({ name: "fake", baseUrl: server.baseUrl });
    const session = createSession({ root, home: false, model });
    try {
      expect(await session.openFolder("../lib")).toBe(lib);
      expect(await session.openFolder(`"${lib}"`)).toBe(lib);
      await expect(session.openFolder("../missing")).rejects.toThrow(/does not exist or is not a folder/);
      await expect(session.openFolder("/")).rejects.toThrow(/secrets/);
      await collectEvents(session.run("read"));
      const told = JSON.stringify(server.requests[0]?.body).split(`The user opened ${lib} for reading`);
      expect(told).toHaveLength(2);
      expect(JSON.stringify(session.history)).toContain("beside");
    } finally {
      await session.close();
      await server.close();
    }
  });
});
