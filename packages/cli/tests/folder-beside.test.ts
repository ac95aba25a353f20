import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEditor } from "./acp-editor.ts";
import { prompt as ask, call } from "./acp-room.ts";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";
import { answer, ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "app/a.txt": "own\n", "lib/b.txt": "beside\n" });

/** Opens the app in one of two folders beside each other; the model wants to read in the other one. */
async function openBeside() {
  const reading = call("read_file", { path: join(room.root, "lib/b.txt") });
  const cwd = join(room.root, "app");
  return room.open([reading, { text: "Read." }], { cwd, env: { HOME: room.root } });
}

/** What the model was told of its last call. */
function lastAnswer({ requests }: typeof server): string {
  const messages = requests.at(-1)?.body.messages as { role: string; content: string }[];
  return messages.filter(({ role }) => role === "tool").at(-1)?.content ?? "";
}

describe("a folder beside the project", () => {
  it("R48 is asked about at the screen, in words, with no answer for always", async () => {
    const terminal = await openBeside();
    await terminal.enter("compare\r", "Read in a folder outside the project?");
    const text = terminal.text();
    for (const words of [
      join(room.root, "lib"),
      "Read ../lib/b.txt",
      "Only reading",
      "y   yes, until this session ends",
    ])
      expect(text).toContain(words);
    expect(text).not.toContain("don't ask again");
    await answer(terminal, "y", "until this session ends");
    await terminal.shows("Read.");
    expect(lastAnswer(room.server)).toBe("beside\n");
  });

  it("R48 is opened by /add-dir, which names what is wrong with a folder that cannot be", async () => {
    const terminal = await openBeside();
    await terminal.enter("/add-dir\r", "Name the folder: /add-dir ../other");
    await terminal.enter("/add-dir ../none\r", /\/add-dir failed: .*none does not exist/);
    await terminal.enter("/add-dir ../lib\r", "The model can read", "lib until this session ends");
    await terminal.enter("compare @../lib/b.txt\r", "Read.");
    expect(terminal.text()).not.toMatch(/outside the project\?|is outside/);
  });

  it("R48 is asked about in an editor, and refused in a script with a sentence that says why", async () => {
    put("lib/b.txt", "beside\n");
    mkdirSync(join(root, "app"));
    const cwd = join(root, "app");
    const reading = call("read_file", { path: join(root, "lib/b.txt") });
    const env = { ...(await modelEnv(reading, { text: "Read." })), HOME: root };
    const opened = await openEditor(cwd, { env, says: () => "once" });
    try {
      const { sessionId } = await opened.agent.request("session/new", { cwd, mcpServers: [] });
      await ask(opened, sessionId, "compare");
      expect(JSON.stringify(opened.asked)).toContain(`Read in ${join(root, "lib")}, outside the project?`);
      expect(lastAnswer(server)).toBe("beside\n");
    } finally {
      await opened.close();
    }
    const again = { ...(await modelEnv(reading, { text: "Not read." })), HOME: root };
    const { stdout, code } = await burin(["-p", "compare"], { cwd, env: again });
    expect([stdout, code]).toEqual(["Not read.\n", 0]);
    expect(lastAnswer(server)).toMatch(/is outside the roots .*only paths inside one of them/);
  });

  it("R48 is a parked question where questions are parked", async () => {
    put("lib/b.txt", "beside\n");
    mkdirSync(join(root, "app"));
    const cwd = join(root, "app");
    const reading = call("read_file", { path: join(root, "lib/b.txt") });
    const env = { ...(await modelEnv(reading, { text: "Read." })), HOME: root };
    const parked = await burin(["-p", "--park", "--output-format", "json", "compare"], { cwd, env });
    expect(JSON.parse(parked.stdout)).toMatchObject({ error: { type: "parked" } });
    const { sessionId } = JSON.parse(parked.stdout);
    const more = await burin(["sessions", "answer", sessionId, "yes"], { cwd, env });
    expect(more).toMatchObject({ code: 0, stdout: "Read.\n" });
    expect(lastAnswer(server)).toBe("beside\n");
  });
});
