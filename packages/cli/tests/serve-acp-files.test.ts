import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AcpRoom, call, prompt } from "./acp-room.ts";
import { put, root } from "./project.ts";

let room: AcpRoom;

beforeEach(() => {
  room = new AcpRoom();
});

afterEach(() => room.close());

describe("files that are open in an editor", () => {
  it("reads and changes what the editor has and has not saved", async () => {
    const path = join(root, "a.txt");
    const buffers = new Map([[path, "one\nunsaved\n"]]);
    const says = () => "once";
    const change = { file_path: path, old_string: "unsaved", new_string: "changed" };
    const opened = await room.editor(
      [
        call("read_file", { file_path: path }),
        call("edit", change),
        call("write_file", { file_path: path, content: "all\n" }),
        { text: "Done." },
      ],
      { buffers, says },
    );
    const { sessionId } = await room.newSession(opened);
    expect(await prompt(opened, sessionId, "Change it.")).toBe("end_turn");
    expect(JSON.stringify(room.model.requests[1]?.body.messages)).toContain("one\\nunsaved");
    expect(opened.asked[0]?.toolCall.content?.[0]).toMatchObject({
      oldText: "one\nunsaved\n",
      newText: "one\nchanged\n",
    });
    expect(buffers.get(path)).toBe("all\n");
    expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
  });

  it("changes nothing when the user types while the question is open", async () => {
    const path = join(root, "a.txt");
    const buffers = new Map([[path, "one\nunsaved\n"]]);
    const says = () => {
      buffers.set(path, "one\nunsaved, and typed on\n");
      return "once";
    };
    const opened = await room.editor(
      [
        call("read_file", { file_path: path }),
        call("write_file", { file_path: path, content: "lost\n" }),
        { text: "It changed." },
      ],
      { buffers, says },
    );
    const { sessionId } = await room.newSession(opened);
    await prompt(opened, sessionId, "Change it.");
    expect(buffers.get(path)).toBe("one\nunsaved, and typed on\n");
    expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
  });

  it("asks to read again what the editor has thrown away since", async () => {
    const path = join(root, "a.txt");
    const buffers = new Map([[path, "one\nunsaved\n"]]);
    const write = call("write_file", { file_path: path, content: "lost\n" });
    const opened = await room.editor(
      [
        call("read_file", { file_path: path }),
        () => {
          buffers.set(path, "one\ntwo\n");
          return write;
        },
        call("read_file", { file_path: path }),
        write,
        { text: "Done." },
      ],
      { buffers, args: ["--yes"] },
    );
    const { sessionId } = await room.newSession(opened);
    await prompt(opened, sessionId, "Change it.");
    const calls = opened.updates.filter((update) => update.sessionUpdate === "tool_call_update");
    expect(
      calls.map(({ status }) => status).filter((status) => status === "completed" || status === "failed"),
    ).toEqual(["completed", "failed", "completed", "completed"]);
    expect(await readFile(path, "utf8")).toBe("lost\n");
  });

  it("writes a saved file itself, as it was: its line ends and its mode", async () => {
    const path = join(root, "crlf.txt");
    await writeFile(path, "one\r\ntwo\r\n", { mode: 0o640 });
    const buffers = new Map([[path, "one\ntwo\n"]]);
    const change = { file_path: path, old_string: "two", new_string: "three" };
    const opened = await room.editor(
      [call("read_file", { file_path: path }), call("edit", change), { text: "Done." }],
      { buffers, says: () => "once" },
    );
    const { sessionId } = await room.newSession(opened);
    await prompt(opened, sessionId, "Change it.");
    expect(await readFile(path, "utf8")).toBe("one\r\nthree\r\n");
  });

  it("keeps a file's last line end when the editor hands out lines without it, saved or not", async () => {
    const [saved, typed] = [join(root, "a.txt"), join(root, "b.txt")];
    await writeFile(typed, "one\ntwo\n");
    const buffers = new Map([
      [saved, "one\ntwo"],
      [typed, "one\nunsaved"],
    ]);
    const edit = (file_path: string, old_string: string) =>
      call("edit", { file_path, old_string, new_string: "changed" });
    const read = (file_path: string) => call("read_file", { file_path });
    const opened = await room.editor(
      [read(saved), edit(saved, "two"), read(typed), edit(typed, "unsaved"), { text: "Done." }],
      { buffers, says: () => "once" },
    );
    const { sessionId } = await room.newSession(opened);
    await prompt(opened, sessionId, "Change both.");
    expect(await readFile(saved, "utf8")).toBe("one\nchanged\n");
    expect(buffers.get(saved)).toBe("one\ntwo");
    expect(buffers.get(typed)).toBe("one\nchanged\n");
  });

  it("searches what the editor has and has not saved, of files that were read and of files with hits", async () => {
    for (const name of ["read.txt", "hit.txt", "saved.txt", "ignored.txt"]) put(name, "old word\n");
    put(".gitignore", "ignored.txt\n");
    const texts = {
      "read.txt": "new word\n",
      "hit.txt": "typed over\n",
      "a.txt": "new word\n",
      "ignored.txt": "new word\n",
    };
    const buffers = new Map(Object.entries(texts).map(([name, text]) => [join(root, name), text]));
    const search = (pattern: string, path = root) => call("search_file_content", { pattern, path });
    const opened = await room.editor(
      [
        search("old word"),
        call("read_file", { file_path: join(root, "read.txt") }),
        search("(old|new) word"),
        search("new word", join(root, "a.txt")),
        { text: "Done." },
      ],
      { buffers },
    );
    const { sessionId } = await room.newSession(opened);
    expect(await prompt(opened, sessionId, "Search.")).toBe("end_turn");
    const messages = room.model.requests.at(-1)?.body.messages as { role: string; content: string }[];
    const [hits = "", , both = "", ofFile = ""] = messages
      .filter(({ role }) => role === "tool")
      .map(({ content }) => content);
    expect(hits).toContain("saved.txt");
    expect(hits).not.toMatch(/read\.txt|hit\.txt|ignored/);
    expect(both).toMatch(/read\.txt[\s\S]*new word[\s\S]*saved\.txt[\s\S]*old word/);
    expect(both).not.toMatch(/hit\.txt|ignored|a\.txt/);
    expect(ofFile).toMatch(/new word/);
  });
});
