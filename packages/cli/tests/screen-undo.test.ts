import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\nbeta\n" }, { columns: 100, rows: 40 });

describe("a command", () => {
  it("/undo and /redo go back and forth, change by change", async () => {
    const edit = {
      name: "edit",
      args: { file_path: join(room.root, "a.txt"), old_string: "beta", new_string: "gamma" },
    };
    const terminal = await room.open([{ calls: [edit] }, { text: "Edited." }], {
      args: ["--approval-mode", "auto-edit"],
    });
    await terminal.enter("edit\r", "Edited.", "? for keys");
    await terminal.enter("/undo \r", "taken back: a.txt");
    expect(await readFile(join(room.root, "a.txt"), "utf8")).toBe("alpha\nbeta\n");
    await terminal.enter("/changes \r", "a.txt  1 of 1  taken back");
    await terminal.enter("\u001b", "? for keys");
    await terminal.enter("/undo \r", "There is nothing to undo.");
    await terminal.enter("/redo \r", "put back: a.txt");
    expect(await readFile(join(room.root, "a.txt"), "utf8")).toBe("alpha\ngamma\n");
    await terminal.enter("/redo \r", "There is nothing to put back.");
    await terminal.enter("/changes \r", /a\.txt {2}1 of 1$/m);
  });

  it("P23 /redo puts back what /changes took back", async () => {
    const edit = {
      name: "edit",
      args: { file_path: join(room.root, "a.txt"), old_string: "beta", new_string: "gamma" },
    };
    const terminal = await room.open([{ calls: [edit] }, { text: "Edited." }], {
      args: ["--approval-mode", "auto-edit"],
    });
    await terminal.enter("edit\r", "Edited.", "? for keys");
    await terminal.enter("/changes \r", /a\.txt {2}1 of 1$/m);
    await terminal.enter("t", "a.txt  1 of 1  taken back");
    expect(await readFile(join(room.root, "a.txt"), "utf8")).toBe("alpha\nbeta\n");
    await terminal.enter("\u001b", "? for keys");
    await terminal.enter("/redo \r", "put back: a.txt");
    expect(await readFile(join(room.root, "a.txt"), "utf8")).toBe("alpha\ngamma\n");
    terminal.type("/undo \r");
    await expect.poll(() => readFile(join(room.root, "a.txt"), "utf8")).toBe("alpha\nbeta\n");
  });

  it("P23 /changes lists what a command changed by call, between the edits, and takes it back as a whole", async () => {
    const edit = (old_string: string, new_string: string) => ({
      name: "edit",
      args: { file_path: join(room.root, "a.txt"), old_string, new_string },
    });
    const command = { name: "run_shell_command", args: { command: "echo new > b.txt && echo more > c.txt" } };
    const calls = [edit("beta", "gamma"), command, edit("alpha", "omega")];
    const answers = [...calls.map((call) => ({ calls: [call] })), { text: "Done it." }];
    const terminal = await room.open(answers, { args: ["--approval-mode", "yolo"] });
    await terminal.enter("go\r", "Done it.", "? for keys");
    await terminal.enter("/changes \r", /a\.txt {2}1 of 3$/m);
    await terminal.enter("\u001b[B", /run_shell_command {2}2 files changed {2}2 of 3$/m, "b.txt");
    await terminal.enter("f", /2 files changed {2}2 of 3 {2}taken back/);
    for (const name of ["b.txt", "c.txt"])
      await expect(readFile(join(room.root, name))).rejects.toThrow("ENOENT");
    expect(await readFile(join(room.root, "a.txt"), "utf8")).toBe("omega\ngamma\n");
    await terminal.enter("\u001b", "? for keys");
    await terminal.enter("/redo \r", "put back: b.txt");
    expect(await readFile(join(room.root, "c.txt"), "utf8")).toBe("more\n");
  });

  it("P23 going back takes the files along, those of commands too, and says before what that changes", async () => {
    const command = { name: "run_shell_command", args: { command: "rm a.txt && echo new > b.txt" } };
    const answers = [{ text: "Hello." }, { calls: [command] }, { text: "Removed." }];
    const terminal = await room.open(answers, { args: ["--approval-mode", "yolo"] });
    await terminal.enter("hello\r", "Hello.", "? for keys");
    await terminal.enter("remove it\r", "Removed.", "? for keys");
    terminal.type("\u001b");
    await terminal.enter("\u001b", "Go back to which prompt?");
    await terminal.enter("remove it\r", "What should go back?", "a.txt, b.txt");
    await terminal.enter("\r", "taken back: a.txt");
    expect(await readFile(join(room.root, "a.txt"), "utf8")).toBe("alpha\nbeta\n");
    await expect(readFile(join(room.root, "b.txt"))).rejects.toThrow("ENOENT");
    await expect.poll(() => terminal.text()).toContain("> remove it");
  });
});
