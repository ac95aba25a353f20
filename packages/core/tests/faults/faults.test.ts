import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BaseTool, createSession, createToolbox, type ToolResult } from "@burin/core";
import { findSession, forkSession, resumeSession } from "@burin/core/internal";
import { undo } from "@burin/core/sessions";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "../events-of.ts";
import { killDuringWrite } from "./kill-during-write.mjs";
import { killSessions } from "./kill-session.mjs";
import { swapRace } from "./swap-race.mjs";

const WRITE_ONCE = fileURLToPath(new URL("./write-once.mjs", import.meta.url));
const FEW_DESCRIPTORS = fileURLToPath(new URL("./few-descriptors.mjs", import.meta.url));
const CORE = new URL("./core.mjs", import.meta.url).href;
const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65534;

let place: string;
let mounted: string[] = [];

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "burin-fault-")));
});

afterEach(() => {
  // Lazily: a program that has just ended may still hold a file there.
  for (const point of mounted.reverse()) execFileSync("umount", ["--lazy", point]);
  mounted = [];
  rmSync(place, { recursive: true, force: true });
});

/** As root a mount must work: a silent pass would prove nothing. */
function mount(point: string, args: readonly string[]): void {
  mkdirSync(point, { recursive: true });
  execFileSync("mount", [...args, point]);
  mounted.push(point);
}

type FakeCall = NonNullable<ScriptLine["calls"]>[number];

class FillDisk extends BaseTool {
  readonly name = "fill_disk";
  readonly displayName = "Fill";
  readonly description = "Fills the disk";
  readonly kind = "read";
  readonly parameterSchema = { type: "object" };
  readonly #path: string;

  constructor(path: string) {
    super();
    this.#path = path;
  }

  getDescription(): string {
    return "fill";
  }

  /** Up to the last byte. */
  async execute(): Promise<ToolResult> {
    for (const bytes of [4096, 64, 1]) {
      try {
        for (;;) appendFileSync(this.#path, Buffer.alloc(bytes));
      } catch {
        // As full as it gets with pieces of this size.
      }
    }
    return { llmContent: "full", returnDisplay: "full" };
  }
}

interface Outcome {
  readonly llmContent: string;
  readonly error?: { readonly type: string };
}

function writeOnce(path: string, bytes: number, user?: number): Outcome {
  const identity = user === undefined ? {} : { uid: user, gid: user };
  const args = [WRITE_ONCE, place, path, "n", String(bytes)];
  return JSON.parse(execFileSync(process.execPath, args, { ...identity, encoding: "utf8" }));
}

describe("a write that is killed", () => {
  it("P2 leaves the old or the new content of 50 MB, never a mix", { timeout: 120_000 }, async () => {
    const found = await killDuringWrite({ times: 15, bytes: 50_000_000 });
    expect(found.mixed).toBe(0);
    expect(found.old + found.fresh).toBe(15);
    expect(found.old).toBeGreaterThan(0);
  });
});

describe("a session that is killed", () => {
  it("P11 P13 is gone on with: every effect is known, none happens twice", { timeout: 120_000 }, async () => {
    const { inTheMiddle } = await killSessions(12);
    expect(inTheMiddle).toBeGreaterThan(0);
  });
});

describe("a system that opens no more files", () => {
  it("P2 P44 is said in words, changes nothing by halves, and leaves no temporary folder", () => {
    const temporary = join(place, "tmp");
    mkdirSync(temporary);
    const env = { PATH: process.env.PATH, HOME: place, TMPDIR: temporary };
    const args = ["-c", 'ulimit -n 60; exec "$@"', "sh", process.execPath, FEW_DESCRIPTORS, place];
    const said: { errors: string[]; text: string; isEdited: boolean }[] = JSON.parse(
      execFileSync("bash", args, { env, encoding: "utf8" }),
    );
    for (const { errors, text, isEdited } of said) {
      expect(text).toBe(isEdited ? "new\n" : "old\n");
      for (const error of errors) expect(error).toMatch(/too many (open files|files are open)|EMFILE/i);
    }
    expect(said.flatMap(({ errors }) => errors)).not.toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe("a command that leaves folders in which nothing may be removed", () => {
  it(
    "P26 P44 leaves no temporary folder, and its session closes",
    requirePrograms("bwrap", "the user nobody"),
    () => {
      const temporary = join(place, "tmp");
      mkdirSync(temporary);
      if (IS_ROOT) for (const owned of [place, temporary]) chownSync(owned, NOBODY, NOBODY);
      const script = `
      import { createToolbox } from ${JSON.stringify(CORE)};
      const toolbox = createToolbox({ root: ${JSON.stringify(place)}, approvalMode: "yolo" });
      const command = 'cd "$TMPDIR" && mkdir -p a/b && touch a/b/c && chmod 555 a a/b && echo "made"';
      const { llmContent } = await toolbox.call("run_shell_command", { command });
      await toolbox.close();
      process.stdout.write(llmContent);`;
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        ...(IS_ROOT && { uid: NOBODY, gid: NOBODY }),
        env: { PATH: process.env.PATH, HOME: place, TMPDIR: temporary },
        encoding: "utf8",
      });
      expect(said).toContain("made");
      expect(readdirSync(temporary)).toEqual([]);
    },
  );
});

describe("a folder swapped for a link", () => {
  it("P38 R48 never lets a read or a write out", { timeout: 120_000 }, async () => {
    const found = await swapRace({ tries: 2000 });
    expect([found.readOutside, found.namedOutside, found.filesOutside]).toEqual([0, 0, 0]);
    expect(found.readInside).toBeGreaterThan(0);
    expect(found.writtenInside).toBeGreaterThan(0);
    expect(found.refused).toBeGreaterThan(0);
  });
});

describe.runIf(IS_ROOT)("a file system that fails", () => {
  it("P2 full: the old content stays, no file is left beside it, and the error says so", () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    const path = join(disk, "a.txt");
    writeFileSync(path, "old\n");
    expect(writeOnce(path, 4_000_000).error?.type).toBe("no_space");
    expect(readFileSync(path, "utf8")).toBe("old\n");
    expect(writeOnce(join(disk, "new/folder/b.txt"), 4_000_000).error?.type).toBe("no_space");
    expect(readdirSync(disk)).toEqual(["a.txt"]);
  });

  it("P23 full: an undo takes the change back, and says why it cannot be undone itself", async () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=256k", "tmpfs"]);
    const [home, root] = [join(disk, "home"), join(place, "project")];
    mkdirSync(home);
    mkdirSync(root);
    writeFileSync(join(root, "a.txt"), "old\n");
    const options = {
      root,
      environment: { BURIN_HOME: home, PATH: process.env.PATH },
      record: true,
    } as const;
    const toolbox = createToolbox({ ...options, approvalMode: "yolo", overwriteUnread: true });
    await toolbox.call("write_file", { file_path: join(root, "a.txt"), content: "new\n" });
    writeFileSync(join(disk, "filler"), Buffer.alloc(64 * 1024));
    expect(() => {
      for (;;) appendFileSync(join(disk, "filler"), Buffer.alloc(4096));
    }).toThrow("ENOSPC");
    expect(await undo({ home, root })).toEqual({
      isRedo: false,
      files: [{ file: "a.txt", what: "restored" }],
      unrecorded: "no space left on device (ENOSPC)",
    });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("old\n");
  });

  it("P13 P54 full while a session is recorded: no effect that could not be recorded, and what was kept is whole", async () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=256k", "tmpfs"]);
    const root = join(place, "project");
    const home = join(disk, "home");
    mkdirSync(root);
    mkdirSync(home);
    writeFileSync(join(home, "settings.json"), "{}\n");
    const writing = (name: string) => ({
      name: "write_file",
      args: { file_path: join(root, name), content: "x\n".repeat(3000) },
    });
    const fill: FakeCall = { name: "fill_disk", args: {} };
    const script = [
      { calls: [writing("a.txt")] },
      { calls: [fill] },
      { calls: [writing("b.txt")] },
      { text: "?" },
    ];
    const session = createSession({
      root,
      environment: { BURIN_HOME: home, PATH: process.env.PATH },
      model: scriptedModel(script),
      approvalMode: "yolo",
      record: true,
      tools: [new FillDisk(join(disk, "filler"))],
    });
    const events = await collectEvents(session.run("go"));
    await session.close();
    expect(readdirSync(root)).toEqual(["a.txt"]);
    expect(JSON.stringify(events)).toMatch(/cannot be written[^"]*no space/);
    expect(events.at(-1)).toMatchObject({
      type: "done",
      status: "error",
      error: { type: "not_recorded", message: expect.stringContaining("no space") },
    });
    rmSync(join(disk, "filler"));
    const again = await resumeSession({ home, root });
    const known = [...again.session.listEvents(() => "edit")];
    expect(
      known.filter((event) => event.type === "tool_call" && event.call.status === "success"),
    ).not.toEqual([]);
    expect(again.session.notices.join()).not.toContain("cannot be read");
    again.lock.release();
    expect(readFileSync(join(home, "settings.json"), "utf8")).toBe("{}\n");
  });

  it("P13 P44 full while a session is copied: no half of it is left to go on with", async () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    const root = join(place, "project");
    mkdirSync(root);
    const options = { root, environment: { BURIN_HOME: disk, PATH: process.env.PATH } };
    const model = scriptedModel([{ text: "long ".repeat(12_000) }]);
    const session = createSession({ ...options, model, record: true });
    for await (const _ of session.run("go"));
    await session.close();
    writeFileSync(join(disk, "room"), Buffer.alloc(32 * 1024));
    expect(() => {
      for (;;) appendFileSync(join(disk, "filler"), Buffer.alloc(4096));
    }).toThrow("ENOSPC");
    rmSync(join(disk, "room"));
    const home = { home: disk, root };
    const original = await findSession(disk, root);
    await expect(forkSession({ ...home, place: original, turn: 1 })).rejects.toThrow(/no space left/);
    expect(await findSession(disk, root)).toEqual(original);
    rmSync(join(disk, "filler"));
    const copy = await forkSession({ ...home, place: original, turn: 1 });
    const told = [...(await resumeSession({ ...home, id: copy })).session.listEvents(() => "edit")];
    expect(JSON.stringify(told).length).toBeGreaterThan(60_000);
  });

  it("P44 full where temporary files go: a command runs all the same, and the next one once there is room", async () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=8k", "tmpfs"]);
    const before = process.env.TMPDIR;
    process.env.TMPDIR = disk;
    const filler = join(disk, "filler");
    writeFileSync(filler, "x");
    expect(() => {
      for (;;) appendFileSync(filler, Buffer.alloc(4096));
    }).toThrow("ENOSPC");
    const environment = { BURIN_HOME: join(place, "home"), PATH: process.env.PATH };
    const toolbox = createToolbox({ root: place, approvalMode: "yolo", environment });
    try {
      const run = () => toolbox.call("run_shell_command", { command: "echo words" });
      expect((await run()).llmContent).toContain("words");
      expect(readdirSync(disk)).toEqual(["filler"]);
      rmSync(filler);
      expect((await run()).llmContent).toContain("words");
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      await toolbox.close();
    }
  });

  it("P2 read-only: the old content stays, and the error says so", () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    const path = join(disk, "a.txt");
    writeFileSync(path, "old\n");
    execFileSync("mount", ["-o", "remount,ro", disk]);
    expect(writeOnce(path, 80).error?.type).toBe("read_only");
    expect(writeOnce(join(disk, "new/b.txt"), 80).error?.type).toBe("read_only");
    expect(readFileSync(path, "utf8")).toBe("old\n");
    expect(readdirSync(disk)).toEqual(["a.txt"]);
  });
});

describe("a file that may not be written", () => {
  it.each([
    ["the file is read-only", 0o444, 0o777],
    ["the folder is read-only", 0o666, 0o555],
  ])("P2 P49 keeps its content: %s", requirePrograms("the user nobody"), (_why, fileMode, folderMode) => {
    const folder = join(place, "folder");
    mkdirSync(folder);
    const path = join(folder, "a.txt");
    writeFileSync(path, "old\n");
    if (IS_ROOT) for (const owned of [place, folder, path]) chownSync(owned, NOBODY, NOBODY);
    chmodSync(path, fileMode);
    chmodSync(folder, folderMode);
    const { error, llmContent } = writeOnce(path, 80, IS_ROOT ? NOBODY : undefined);
    chmodSync(folder, 0o777);
    expect([error?.type, llmContent]).toEqual(["permission_denied", `No permission for ${path}.`]);
    expect(readFileSync(path, "utf8")).toBe("old\n");
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });
});
