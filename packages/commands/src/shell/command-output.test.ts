import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { withFallback } from "@burin/contract/with-fallback";
import { createTemporaryFolder } from "@burin/testing/made-files";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { CommandOutput } from "./command-output.ts";
import { openCommands } from "./commands.ts";
import { closePipe, createOutputPipes } from "./output-pipe.ts";
import { formatOutput, formatOutputTail } from "./output-text.ts";

let folder: string;

beforeEach(() => {
  folder = createTemporaryFolder();
});

/** Feeds the bytes in pieces. */
function fed(output: CommandOutput, bytes: Buffer, piece: number): void {
  for (let at = 0; at < bytes.length; at += piece) output.append(bytes.subarray(at, at + piece));
}

describe("CommandOutput", () => {
  it.each([1, 7, 1000, 65_536])("P7 keeps every byte in the file, in pieces of %i", (piece) => {
    const lines = Array.from(
      { length: piece === 1 ? 10_000 : 700_000 },
      (_, index) => `line ${index}\n`,
    ).join("");
    const bytes = Buffer.from(lines);
    const file = join(folder, "out.txt");
    const output = new CommandOutput(file);
    fed(output, bytes, piece);
    output.end();
    const { head, tail, newlines, bytes: count } = output.soFar();
    expect(count).toBe(bytes.length);
    expect(newlines).toBe(lines.split("\n").length - 1);
    expect(bytes.subarray(0, head.length).equals(head)).toBe(true);
    expect(bytes.subarray(bytes.length - tail.length).equals(tail)).toBe(true);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it("P7 has its end in memory, however much came before", () => {
    const all = Buffer.from(Array.from({ length: 300_000 }, (_, index) => `${index}\n`).join(""));
    const length = fc.oneof(
      fc.integer({ min: 30_001, max: all.length }),
      fc.integer({ min: 524_000, max: 590_000 }),
    );
    fc.assert(
      fc.property(length, fc.integer({ min: 2000, max: 65_536 }), fc.boolean(), (size, piece, isOver) => {
        const bytes = all.subarray(0, size);
        const output = new CommandOutput(join(folder, `${Math.random()}`));
        fed(output, bytes, piece);
        if (isOver) output.end();
        const { head, tail } = output.soFar();
        expect(tail.length).toBe(Math.min(64 * 1024, size - head.length));
        expect(bytes.subarray(size - tail.length).equals(tail)).toBe(true);
        if (!isOver) output.end();
      }),
      { numRuns: 60 },
    );
  });

  it("P7 a short output needs no file; one byte more than fits makes one", () => {
    for (const [length, made] of [
      [30_000, false],
      [30_001, true],
    ] as const) {
      const output = new CommandOutput(join(folder, `${length}`));
      fed(output, Buffer.alloc(length, "x"), 4096);
      output.end();
      expect(output.soFar().file !== null).toBe(made);
      const text = formatOutput(output.soFar(), 30_000);
      expect(text.includes("left out")).toBe(made);
    }
  });

  it("P19 P7 says at its end that a secret was written, also one that two writes cut, and says nothing otherwise", () => {
    const secret = `AKIA${"0123456789ABCDEF"}`;
    const isSecretIn = (bytes: Buffer) => bytes.includes(secret);
    const said = [0, 100, 30_000, 524_280, 700_000, 1_000_000, null].map((at, number) => {
      const output = new CommandOutput(join(folder, `secret-${number}`), { isSecretIn });
      let isSaid = false;
      output.onSecret = () => {
        isSaid = true;
      };
      const text = "some words\n".repeat(100_000);
      const bytes = Buffer.from(at === null ? text : `${text.slice(0, at)}\n${secret}\n${text.slice(at)}`);
      for (let from = 0; from < bytes.length; from += 60_001)
        output.append(bytes.subarray(from, from + 60_001));
      output.end();
      return isSaid;
    });
    expect(said).toEqual([true, true, true, true, true, true, false]);
  });

  it("P7 a file that cannot be made or may not grow costs its content, never the command", () => {
    writeFileSync(join(folder, "taken"), "mine");
    const taken = new CommandOutput(join(folder, "taken"));
    fed(taken, Buffer.alloc(5_000_000, "y\n"), 65_536);
    taken.end();
    expect(taken.soFar()).toMatchObject({ bytes: 5_000_000, newlines: 2_500_000, file: null });
    expect(formatOutput(taken.soFar(), 30_000)).toContain("could not be kept: file already exists (EEXIST)");
    expect(readFileSync(join(folder, "taken"), "utf8")).toBe("mine");
    const short = new CommandOutput(join(folder, "short"), { maxFileBytes: 100_000 });
    fed(short, Buffer.alloc(5_000_000, "z"), 65_536);
    short.end();
    expect(readFileSync(join(folder, "short")).length).toBe(100_000);
    expect(formatOutput(short.soFar(), 30_000)).toContain("the file is kept at 100000 bytes");
  });

  it.runIf(process.platform === "linux")(
    "P7 a disk that fails when the file is closed costs nothing more",
    () => {
      const file = join(folder, "out.txt");
      const output = new CommandOutput(file);
      fed(output, Buffer.alloc(50_000, "a"), 1000);
      const open = readdirSync("/proc/self/fd").filter(
        (one) => withFallback("", () => readlinkSync(`/proc/self/fd/${one}`)) === file,
      );
      expect(open).toHaveLength(1);
      closeSync(Number(open[0]));
      output.end();
      expect(output.soFar()).toMatchObject({
        bytes: 50_000,
        file,
        fileFault: expect.stringContaining("EBADF"),
      });
    },
  );

  it("P7 what was taken so far can be read from the file while the command runs", async () => {
    const file = join(folder, "out.txt");
    const output = new CommandOutput(file);
    fed(output, Buffer.alloc(50_000, "a"), 1000);
    await output.flush();
    expect(readFileSync(file).length).toBe(50_000);
    fed(output, Buffer.alloc(10, "b"), 10);
    output.end();
    expect(readFileSync(file).length).toBe(50_010);
  });
});

describe("outputText", () => {
  function textOf(bytes: Buffer, max = 30_000): string {
    const output = new CommandOutput(join(folder, `${Math.random()}`));
    fed(output, bytes, 65_536);
    output.end();
    return formatOutput(output.soFar(), max);
  }

  it("never cuts a character in two", () => {
    for (const character of ["é", "漢", "🙂"]) {
      for (let shift = 0; shift < 4; shift += 1) {
        const text = textOf(Buffer.from("x".repeat(shift) + character.repeat(60_000)));
        expect(text).not.toContain("\ufffd");
        expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
      }
    }
  });

  it.each([
    ["a program", readFileSync("/bin/sh"), true],
    ["zeros", Buffer.alloc(1000), true],
    ["control characters", Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 32 || 1)), true],
    ["names parted by NUL", Buffer.from("a\0bb\0ccc\0"), false],
    ["colours", Buffer.from("\u001b[1mbold\u001b[0m\n".repeat(50)), false],
    ["one bold word, as `tput` writes it in tmux", Buffer.from("\u001b[1mTitle\u001b[m\u000f\n"), false],
    ["text with faults", Buffer.from([...Buffer.from("mostly text "), 0xff, 0xfe, 0x0a]), false],
    ["nothing", Buffer.alloc(0), false],
  ])("tells %s", (_title, bytes, isBinary) => {
    expect(textOf(bytes).includes("output is binary")).toBe(isBinary);
  });

  it("the tail for watching is short and whole", () => {
    const output = new CommandOutput(join(folder, "tail"));
    fed(output, Buffer.from(`start\n${"漢".repeat(100_000)}end`), 65_536);
    const tail = formatOutputTail(output.soFar(), 1000);
    expect(tail.length).toBe(1000);
    expect(tail).toMatch(/^…漢+end$/);
    expect(tail).not.toContain("\ufffd");
    output.end();
  });
});

describe("old outputs", () => {
  it("P7 are removed after a week, also beside something that cannot be removed", async () => {
    const output = join(folder, "output");
    for (const name of ["a-folder", "new"]) mkdirSync(join(output, name), { recursive: true });
    for (const name of ["b.txt", "new/c.txt"]) writeFileSync(join(output, name), "");
    for (const name of ["a-folder", "b.txt"]) utimesSync(join(output, name), 1, 1);
    const commands = openCommands({
      ...{ roots: [folder], home: folder, environment: process.env, sandbox: "off", network: false },
      ...{ passEnvironment: [], secretEnvironment: [] },
    });
    const run = await commands.start({ command: "true", directory: folder, exception: "none" });
    await run.shellEnded;
    await expect.poll(() => readdirSync(output)).toEqual(["a-folder", "new"]);
    await commands.close();
  });
});

describe("OutputPipes", () => {
  it("P26 a session that ends waits until its folder gets no more of them", async () => {
    let finish: (made: boolean) => void = () => {};
    const pipes = createOutputPipes(folder, () => new Promise((resolve) => (finish = resolve)));
    const taken = pipes.take();
    let isSettled = false;
    const settled = pipes.settled().then(() => {
      isSettled = true;
    });
    await setImmediate();
    expect(isSettled).toBe(false);
    finish(false);
    await settled;
    expect(await taken).toBeNull();
    await pipes.settled();
  });

  it.runIf(process.platform !== "win32")(
    "P26 can be made when that failed once, as without memory",
    async () => {
      let tries = 0;
      const pipes = createOutputPipes(folder, async (paths) => {
        tries += 1;
        if (tries === 1) throw new Error("spawn ENOMEM");
        execFileSync("mkfifo", [...paths]);
        return true;
      });
      expect(await pipes.take()).toBeNull();
      const pipe = await pipes.take();
      expect(pipe).not.toBeNull();
      closePipe(pipe);
      await pipes.settled();
    },
  );
});
