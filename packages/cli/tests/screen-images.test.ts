import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

/** One dot. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
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
    terminal.type(pasted(written(path)));
    await terminal.shows("> [image 1]");
    terminal.type("what is it?\r");
    await terminal.shows("A dot.");
    expect(terminal.all()).toContain("> [image 1] what is it?");
    expect(sentImages()).toEqual([DOT]);
  });

  it("several are several; one whose mark is erased does not go; other paths and texts stay what they are", async () => {
    const terminal = await room.open([{ text: "One." }]);
    const paths = ["a.png", "b.png"].map((name) => join(room.root, name));
    for (const path of paths) await writeFile(path, PNG);
    terminal.type(pasted(paths.join(" ")));
    await terminal.shows("> [image 1] [image 2]");
    terminal.type("\u0017\u0017");
    await terminal.until(() => !terminal.text().includes("[image 2]"), "one image");
    terminal.type(pasted(join(room.root, "a.txt")));
    await terminal.shows("a.txt");
    await writeFile(join(room.root, "false.png"), "no picture");
    terminal.type(pasted(` ${join(room.root, "false.png")}`));
    await terminal.shows("false.png");
    terminal.type("\r");
    await terminal.shows("One.");
    expect(sentImages()).toEqual([DOT]);
  });

  it("the one in the clipboard is taken with ctrl+v, and with a paste of nothing", async () => {
    const bin = join(room.root, "bin");
    await mkdir(bin);
    await writeFile(join(room.root, "dot.png"), PNG);
    await writeFile(join(bin, "wl-paste"), `#!/bin/sh\ncat "${join(room.root, "dot.png")}"\n`);
    await chmod(join(bin, "wl-paste"), 0o755);
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, WAYLAND_DISPLAY: "wayland-0" };
    const terminal = await room.open([{ text: "Two." }], { env });
    terminal.type("\u0016");
    await terminal.shows("> [image 1]");
    terminal.type(pasted(""));
    await terminal.shows("> [image 1] [image 2]");
    terminal.type("\r");
    await terminal.shows("Two.");
    expect(sentImages()).toEqual([DOT, DOT]);
  });

  it("says so where the clipboard has none", async () => {
    const terminal = await room.open([]);
    terminal.type("\u0016");
    await terminal.shows("No image in the clipboard");
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
    terminal.type("go\r");
    await terminal.shows("esc to interrupt");
    terminal.type(pasted(join(room.root, "a.png")));
    await terminal.shows("> [image 1]");
    terminal.type("and this?\r");
    await terminal.shows("waiting: [image 1] and this?");
    release();
    await terminal.shows("Second.");
    expect(sentImages()).toEqual([DOT]);
  });
});
