import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync } from "node:zlib";
import type { FakeReply } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";
import type { ScreenOptions } from "./screen-terminal.ts";

/** One dot. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
const BMP = Buffer.from(
  "Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAADEDgAAxA4AAAAAAAAAAAAA////AA==",
  "base64",
);
const SERVER = fileURLToPath(new URL("asking-server.mjs", import.meta.url));
const KITTY = new RegExp(`${"\u001b"}_G([^;]*);([^${"\u001b"}]*)${"\u001b"}\\\\`, "g");
const room = new ScreenRoom({ "a.txt": "alpha\n" }, { columns: 90 });

const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;

/** The images of the last request, as the service got them. */
function sentImages(): string[] {
  const text = JSON.stringify(room.server.requests.at(-1)?.body.messages ?? "");
  return [...text.matchAll(/data:(image\/\w+);base64,([\w+/=]+)/g)].map(
    ([, type = "", data = ""]) => `${type} ${data}`,
  );
}

const DOT = `image/png ${PNG.toString("base64")}`;

describe("images at the prompt", () => {
  it.each([
    ["plain", (path: string) => path],
    ["quoted", (path: string) => `'${path}' `],
    ["escaped", (path: string) => path.replaceAll(" ", "\\ ")],
    ["as an address", (path: string) => `file://${path.replaceAll(" ", "%20")}`],
  ])("a path that is dropped or pasted alone is the image: %s", async (_how, written) => {
    const terminal = await room.open([{ text: "A dot." }]);
    const path = join(room.root, "one dot.png");
    await writeFile(path, PNG);
    await terminal.enter(pasted(written(path)), "> [image 1]");
    await terminal.enter("what is it?\r", "A dot.");
    expect(terminal.all()).toContain("> [image 1] what is it?");
    expect(sentImages()).toEqual([DOT]);
  });

  it("several are several; one whose mark is erased does not go; other paths and texts stay what they are", async () => {
    const terminal = await room.open([{ text: "One." }]);
    const paths = ["a.png", "b.png"].map((name) => join(room.root, name));
    for (const path of paths) await writeFile(path, PNG);
    await terminal.enter(pasted(paths.join(" ")), "> [image 1] [image 2]");
    terminal.type("\u0017\u0017");
    await terminal.until(() => !terminal.text().includes("[image 2]"), "one image");
    await terminal.enter(pasted(join(room.root, "a.txt")), "a.txt");
    await writeFile(join(room.root, "false.png"), "no picture");
    await terminal.enter(pasted(` ${join(room.root, "false.png")}`), "false.png");
    await terminal.enter("\r", "One.");
    expect(sentImages()).toEqual([DOT]);
  });

  it("a BMP, which no service takes, stays a path, with which the model can convert it", async () => {
    const terminal = await room.open([{ text: "I convert it." }]);
    const path = join(room.root, "dot.bmp");
    await writeFile(path, BMP);
    await terminal.enter(pasted(path), "dot.bmp");
    await terminal.enter("\r", "I convert it.");
    expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("dot.bmp");
  });

  it("P21 the one in the clipboard is taken with ctrl+v, and with a paste of nothing, by no program of the project", async () => {
    const [own, bin] = [join(room.root, "bin"), createTemporaryFolder()];
    await mkdir(own);
    await writeFile(join(room.root, "dot.png"), PNG);
    await writeFile(join(own, "wl-paste"), `#!/bin/sh\ntouch "${own}/canary"\n`, { mode: 0o755 });
    await writeFile(join(bin, "wl-paste"), `#!/bin/sh\ncat "${room.root}/dot.png"\n`, { mode: 0o755 });
    const PATH = [own, bin, process.env.PATH].join(delimiter);
    const env = { PATH, HOME: createTemporaryFolder(), WAYLAND_DISPLAY: "wayland-0" };
    const terminal = await room.open([{ text: "Two." }], { env });
    await terminal.enter("\u0016", "> [image 1]");
    await terminal.enter(pasted(""), "> [image 1] [image 2]");
    await terminal.enter("\r", "Two.");
    expect(sentImages()).toEqual([DOT, DOT]);
    expect(existsSync(join(own, "canary"))).toBe(false);
  });

  it("says so where the clipboard has none", async () => {
    const terminal = await room.open([]);
    await terminal.enter("\u0016", "No image in the clipboard");
  });

  it("one that is given while the model works goes with the next run", async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = async () => {
      await released;
      return { text: "First." };
    };
    const terminal = await room.open([first, { text: "Second." }]);
    await writeFile(join(room.root, "a.png"), PNG);
    await terminal.enter("go\r", "esc to interrupt");
    await terminal.enter(pasted(join(room.root, "a.png")), "> [image 1]");
    await terminal.enter("and this?\r", "with the next turn: [image 1] and this?");
    release();
    await terminal.shows("Second.");
    expect(sentImages()).toEqual([DOT]);
  });
});

/** A picture of so many pixels, all of one colour. */
function picture(width: number, height: number, level = 0): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const around = Buffer.alloc(8);
    around.writeUInt32BE(data.length, 0);
    around.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((width + 1) * height), { level });
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

describe("images in the transcript", () => {
  const WIDE = picture(400, 100);
  const reading: FakeReply = () => ({
    calls: [{ name: "read_file", args: { absolute_path: join(room.root, "wide.png") } }],
  });

  async function look(options: Partial<ScreenOptions>, replies = [reading, { text: "It is black." }]) {
    await writeFile(join(room.root, "wide.png"), WIDE);
    const terminal = await room.open(replies, options);
    await terminal.settled();
    await terminal.enter("look\r", "It is black.", "? for keys");
    await terminal.settled();
    return terminal;
  }

  /** What was sent by the protocol of kitty: how, and the image. */
  function kittyImages(written: string): { head: string; data: Buffer }[] {
    const found: { head: string; data: Buffer }[] = [];
    for (const [, head = "", data = ""] of written.matchAll(KITTY)) {
      expect(data.length).toBeLessThanOrEqual(4096);
      const last = found.at(-1);
      if (head.startsWith("a=T")) found.push({ head, data: Buffer.from(data, "base64") });
      else if (last !== undefined)
        found[found.length - 1] = { ...last, data: Buffer.concat([last.data, Buffer.from(data, "base64")]) };
    }
    return found;
  }

  it("one that is read stands below its call, as many cells large as it has pixels, and nothing beside is moved", async () => {
    const terminal = await look({ named: "WezTerm 20240203" });
    const [image, ...more] = terminal.images;
    expect(more).toEqual([]);
    const data = WIDE.toString("base64");
    expect(image?.sequence).toBe(`File=inline=1;size=${WIDE.length};width=40;height=5:${data}`);
    expect(image?.column).toBe(4);
    const call = terminal.all().findIndex((line) => line.startsWith("● Read wide.png"));
    expect(image?.row).toBe(call + 1);
    const { row = 0 } = image ?? {};
    expect(terminal.all().slice(row, row + 8)).toEqual(["", "", "", "", "", "", "", "It is black."]);
  });

  it.each(["kitty(0.36.4)", "ghostty 1.0.1"])(
    "%s gets it in pieces, and the text is where it is without",
    async (named) => {
      const terminal = await look({ named });
      expect(kittyImages(terminal.written)).toEqual([{ head: "a=T,f=100,q=2,C=1,c=40,r=5,m=1", data: WIDE }]);
      expect(terminal.written).toContain("\u001b7\u001b[5A\u001b[5G\u001b_Ga=T");
      expect(terminal.all().join("\n")).toMatch(/● Read wide\.png.*\n{8}It is black\./);
    },
  );

  it.each<[string, Partial<ScreenOptions>]>([
    ["one that names itself otherwise", { named: "tmux 3.5a" }],
    ["one that does not name itself", {}],
    ["one that answers nothing", { isSilent: true }],
    ["a dumb one", { env: { TERM: "dumb" } }],
  ])("a terminal that is not known to draw images gets none: %s", async (_which, options) => {
    const terminal = await look(options);
    expect(terminal.written).not.toMatch(/_G|1337/);
    expect(terminal.all().join("\n")).toMatch(/● Read wide\.png.*\n\nIt is black\./);
  });

  it("a screen reader gets none", async () => {
    await room.set('{ "ui": { "screenReader": true } }');
    await writeFile(join(room.root, "wide.png"), WIDE);
    const terminal = await room.open([reading, { text: "It is black." }], { named: "kitty(0.36.4)" });
    await terminal.enter("look\r", "The work is done.");
    expect(terminal.written).not.toContain("\u001b_G");
  });

  it("large ones are made to fit, and what is no image, is broken or unfolds to too much stays in words", async () => {
    const tall = picture(3000, 3000, 9);
    const files = {
      "tall.png": tall,
      "bomb.png": Buffer.concat([
        WIDE.subarray(0, 16),
        Buffer.from("0000ffff0000ffff", "hex"),
        WIDE.subarray(24),
      ]),
      "cut.jpg": Buffer.from("ffd8ffe000", "hex"),
    };
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(room.root, name), bytes);
    const terminal = await room.open([{ text: "One is there." }], { named: "iTerm2 3.5.4", rows: 24 });
    terminal.type(
      pasted(
        Object.keys(files)
          .map((name) => join(room.root, name))
          .join(" "),
      ),
    );
    await terminal.shows("[image 3]");
    await terminal.enter("\r", "One is there.");
    await terminal.settled();
    expect(terminal.images.map(({ sequence }) => sequence.replace(/:.*/, ""))).toEqual([
      `File=inline=1;size=${tall.length};width=24;height=12`,
    ]);
  });

  it("is there once after resizes, and once more when the session is taken up", async () => {
    const terminal = await look({ named: "WezTerm 20240203" });
    for (const columns of [60, 120, 90]) {
      terminal.resize(columns, 24);
      await terminal.enter("x", "> x");
      await terminal.enter("\u007f\u000c", "> Ask anything");
    }
    expect(terminal.images.length).toBe(1);
    terminal.type("/clear\r");
    await terminal.until(() => !terminal.text().includes("It is black."), "a new session");
    await terminal.enter("/resume\r", "› look");
    await terminal.enter("\r", /^It is black\.$/m);
    expect(terminal.images.length).toBe(2);
  });

  it("one that a tool of an MCP server gives is shown, too", async () => {
    const mcpServers = { forms: { command: process.execPath, args: [SERVER] } };
    await room.set({ mcpServers });
    const text = `data:image/png;base64,${WIDE.toString("base64")}`;
    const noting: FakeReply = { calls: [{ name: "forms__note", args: { text } }] };
    const options = { named: "iTerm2 3.5.4", args: ["--approval-mode", "yolo"] };
    const terminal = await look(options, [noting, { text: "It is black." }]);
    expect(terminal.images.map(({ sequence }) => sequence.split(":")[1])).toEqual([WIDE.toString("base64")]);
  });
});
