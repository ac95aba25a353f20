import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\nbeta\n" }, { columns: 100 });

describe("the user's own hands", () => {
  it("P8: a program that takes the whole terminal gets it, and the screen is back at its end", async () => {
    await writeFile(
      join(room.root, "vim"),
      "#!/bin/sh\ntest -t 0 && test -t 1 && read name && echo $name > named\n",
      {
        mode: 0o755,
      },
    );
    const terminal = await room.open();
    await terminal.enter("!./vim a.txt\r", /^! \.\/vim a\.txt$/m);
    await terminal.until(() => !terminal.text().includes("Ask anything"), "the terminal of the program");
    await terminal.enter("ada\r", "Ask anything");
    expect(await readFile(join(room.root, "named"), "utf8")).toBe("ada\n");
  });

  it("P30: a prompt that is a command of one's own looks like one, with and without colours", async () => {
    const terminal = await room.open([], { env: { NO_COLOR: "", FORCE_COLOR: "1" } });
    await terminal.enter("!ls", "$ !ls");
    expect(terminal.written).toContain("\u001b[35m$ ");
    await terminal.enter("\u0015", "Ask anything");
    await terminal.enter("ls", "> ls");
  });

  it("R44: a fact that was typed is stored without a question, and can be taken back", async () => {
    const terminal = await room.open();
    await terminal.enter("#likes tea\r", "/undo takes it back.");
    expect(await readFile(join(room.root, "AGENTS.md"), "utf8")).toContain("likes tea");
    await terminal.enter("/undo \r", "taken back: ");
    expect(await readFile(join(room.root, "AGENTS.md"), "utf8").catch(() => "")).not.toContain("likes tea");
  });

  it("P30: keybindings.json gives keys other uses, and says what it cannot use", async () => {
    await room.set({});
    const file = join(room.root, ".home/keybindings.json");
    await writeFile(file, '{"ctrl+x": "/cost", "ctrl+t": "palette", "ctrl+p": null, "enter": "/quit"}');
    const terminal = await room.open();
    await terminal.shows("enter cannot be changed");
    await terminal.enter("\u0018", "tokens sent");
    await terminal.enter("\u0014", "What do you want to do?");
    await terminal.enter("\u001b", "Ask anything");
    await terminal.enter("?", "Your own keys", /ctrl\+x +\/cost/, /ctrl\+p +does nothing/);
  });

  it("P30: the palette runs what was chosen, a command or what a key does", async () => {
    const terminal = await room.open();
    await terminal.enter("\u0010", "What do you want to do?");
    await terminal.enter("tokens, tool\r", "tokens sent");
    await terminal.enter("\u0010", "What do you want to do?");
    await terminal.enter("ctrl+r\r", "Earlier prompts");
  });

  it("P30: a theme is seen before it is chosen, and gone when it is not", async () => {
    const terminal = await room.open([], { env: { NO_COLOR: "", FORCE_COLOR: "3" } });
    await terminal.enter("/theme \r", "Which colours?");
    const [, from] = [terminal.written, terminal.written.length];
    terminal.type("\u001b[A");
    await terminal.shows("› colorblind");
    expect(terminal.written.slice(from)).toContain("\u001b[34m");
    terminal.type("\u001b");
    await terminal.shows("Ask anything");
    await terminal.enter("/theme \r", "› auto");
  });

  it("P13: a session that was cut off says so, and enter sends it again", async () => {
    const hanging = {
      raw: (_request: unknown, response: { writeHead(code: number): { flushHeaders(): void } }) =>
        response.writeHead(200).flushHeaders(),
    };
    const terminal = await room.open([hanging as never, { text: "Known at last." }]);
    await terminal.enter("what is in a.txt?\r", "esc to interrupt");
    await terminal.until(() => room.server.requests.length === 1, "the request");
    const folder = join(room.root, ".home/sessions");
    const isKept = async (): Promise<boolean> => {
      const files = await readdir(folder, { recursive: true }).catch(() => []);
      const logs = files.filter((file) => file.endsWith(".jsonl"));
      const texts = await Promise.all(logs.map((file) => readFile(join(folder, file), "utf8")));
      return texts.some((text) => text.includes("what is in a.txt?"));
    };
    while (!(await isKept())) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(terminal.pid, "SIGKILL");
    await terminal.ended();
    const next = await room.start({ args: ["-c"] });
    await next.shows("Cut off here. Enter sends it again.");
    await next.enter("\r", "Known at last.", "? for keys");
    const sent = JSON.stringify(room.server.requests.at(-1)?.body);
    expect(sent.split("what is in a.txt?")).toHaveLength(2);
  });

  it("P36: /effort is what the next request asks for", async () => {
    const terminal = await room.open([{ text: "One." }, { text: "Two." }]);
    await terminal.enter("ask\r", "One.", "? for keys");
    await terminal.enter("/effort high\r", "Effort: high");
    await terminal.enter("again\r", "Two.");
    expect(JSON.stringify(room.server.requests[0]?.body)).not.toContain('"high"');
    expect(JSON.stringify(room.server.requests[1]?.body)).toContain('"high"');
  });

  it("P30: what a command sends for the user is shown as that command", async () => {
    const terminal = await room.open([{ text: "No faults." }]);
    await terminal.enter("/review only a.txt\r", "No faults.");
    expect(terminal.text()).toMatch(/^> \/review only a\.txt$/m);
    expect(terminal.text()).not.toContain("Report faults");
    expect(JSON.stringify(room.server.requests[0]?.body)).toContain("Report faults");
  });
});
