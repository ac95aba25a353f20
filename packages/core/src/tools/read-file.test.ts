import { appendFileSync } from "node:fs";
import { openWorkspace } from "@burin/commands/node-machine";
import { describe, expect, it } from "vitest";
import { file, makeFolders, root } from "../../tests/folder.ts";
import { ReadFile } from "./read-file.ts";

makeFolders();

const signal = new AbortController().signal;
function read(path: string, more: { offset?: number; limit?: number } = {}) {
  return new ReadFile(openWorkspace(root)).execute({ absolute_path: path, ...more }, signal);
}

function lines(from: number, to: number): string {
  let text = "";
  for (let line = from; line <= to; line += 1) text += `line ${line}\n`;
  return text;
}

describe("text", () => {
  it("R60 comes as it is, trailing blanks and line ends included", async () => {
    const text = "a  \r\n\tb\t\n\n\u00a0 c \u2028\n  last";
    expect((await read(file("a.txt", text))).llmContent).toBe(text);
  });

  it("R60 is empty for an empty file, which the display says", async () => {
    expect(await read(file("empty.txt", ""))).toEqual({
      llmContent: "",
      returnDisplay: "The file is empty.",
    });
  });

  it("R58 R59 R63 X15 comes in parts, with lines counted from 1 and how to read on", async () => {
    const path = file("a.txt", lines(1, 500));
    expect((await read(path, { offset: 0, limit: 100 })).llmContent).toBe(
      `[File content truncated: showing lines 1-100 of 500 total lines; read on with offset 100 and limit 100]\n${lines(1, 100)}`,
    );
    expect((await read(path, { offset: 498, limit: 100 })).llmContent).toBe(
      `[File content truncated: showing lines 499-500 of 500 total lines]\n${lines(499, 500)}`,
    );
    expect((await read(path, { offset: 0, limit: 500 })).llmContent).toBe(lines(1, 500));
  });

  it("R59 P48 is cut at 2000 lines when no limit is given", async () => {
    const { llmContent } = await read(file("a.txt", lines(1, 2001)));
    expect(llmContent).toBe(
      `[File content truncated: showing lines 1-2000 of 2001 total lines; read on with offset 2000 and limit 2000]\n${lines(1, 2000)}`,
    );
    expect((await read(file("b.txt", lines(1, 2000)))).llmContent).toBe(lines(1, 2000));
  });

  it("R60 P48 tells lines that are cut by length, whole characters kept", async () => {
    const { llmContent } = await read(file("a.txt", `short\n${"x".repeat(1999)}😀😀\nend`));
    expect(llmContent).toBe(
      `[File content truncated: showing lines 1-3 of 3 total lines; 1 of them cut after 2000 characters]\nshort\n${"x".repeat(1999)}... [line cut]\nend`,
    );
  });

  it("P48 of one line of 10 MB stays small", async () => {
    const { llmContent } = await read(file("a.txt", "x".repeat(10_000_000)));
    expect(String(llmContent).length).toBeLessThan(2200);
    expect(llmContent).toContain("showing lines 1-1 of 1 total lines; 1 of them cut");
  });

  it("P48 is bounded as a whole, and reading on by the hint gives every line once", async () => {
    const text = Array.from({ length: 300 }, (_, index) => `${index} ${"y".repeat(1500)}\n`).join("");
    const path = file("a.txt", text);
    let offset = 0;
    let seen = "";
    while (offset < 300) {
      const { llmContent } = await read(path, { offset, limit: 2000 });
      const answer = String(llmContent);
      expect(answer.length).toBeLessThanOrEqual(100_000);
      const head = /^\[File content truncated: showing lines (\d+)-(\d+) of 300 total lines.*\]\n/.exec(
        answer,
      );
      expect(Number(head?.[1])).toBe(offset + 1);
      offset = Number(head?.[2]);
      seen += answer.slice(head?.[0].length);
    }
    expect(seen).toBe(text);
  });

  it("R59 finds the same lines in a large file, at every place", async () => {
    const path = file("a.txt", lines(1, 400_000));
    for (const offset of [0, 1, 5_957, 149_999, 262_143, 399_990]) {
      const { llmContent } = await read(path, { offset, limit: 3 });
      expect(llmContent).toContain(`showing lines ${offset + 1}-${offset + 3} of 400000 total lines`);
      expect(String(llmContent).split("]\n")[1]).toBe(lines(offset + 1, offset + 3));
    }
    appendFileSync(path, "without end");
    const { llmContent } = await read(path, { offset: 400_000, limit: 1 });
    expect(llmContent).toBe(
      "[File content truncated: showing lines 400001-400001 of 400001 total lines]\nwithout end",
    );
  });

  it("R59 finds the end of a large file on a disk that is slow, and ends with its signal", async () => {
    const path = file("large.txt", lines(1, 200_000));
    const { uptime } = process;
    let seconds = 0;
    process.uptime = () => seconds++;
    try {
      expect((await read(path, { offset: 199_998 })).llmContent).toContain(lines(199_999, 200_000));
      const ending = new ReadFile(openWorkspace(root)).execute(
        { absolute_path: path, offset: 199_998 },
        AbortSignal.timeout(1),
      );
      await expect(ending).rejects.toThrow("timeout");
    } finally {
      process.uptime = uptime;
    }
  });

  it("R59 counts every line of a file that ends at any place of what is read at once", async () => {
    const [head, part] = [64 * 1024, 512 * 1024];
    const ends = [head + 1, head + part, head + 2 * part, head + 3 * part, head + 4 * part];
    for (const bytes of ends.flatMap((end) => [end - 1, end, end + 1])) {
      const text = lines(1, Math.ceil(bytes / 7)).slice(0, bytes - 1);
      const path = file("ends.txt", `${text}\n`);
      const total = text.split("\n").length;
      const { llmContent } = await read(path, { offset: total - 1 });
      const [shown, last] = String(llmContent).split("]\n");
      expect([bytes, shown, last]).toEqual([
        bytes,
        expect.stringContaining(`of ${total}`),
        `${text.split("\n").at(-1)}\n`,
      ]);
    }
  });

  it("R60 names the total when the offset is past the end", async () => {
    const { llmContent, error } = await read(file("a.txt", "a\nb\n"), { offset: 2, limit: 1 });
    expect(error?.type).toBe("offset_past_end");
    expect(llmContent).toContain("has 2 lines");
  });

  it.each([
    ["utf-16le", Buffer.from(`\ufeff${lines(1, 20_000)}é`, "utf16le")],
    ["utf-16be", Buffer.from(`\ufeff${lines(1, 20_000)}é`, "utf16le").swap16()],
    ["utf-16le without mark", Buffer.from(`${lines(1, 20_000)}é`, "utf16le")],
    ["utf-8 with mark", Buffer.from(`\ufeff${lines(1, 20_000)}é`)],
    ["latin1", Buffer.from(`${lines(1, 20_000)}é`, "latin1")],
  ])("P3 in %s is read, large or small, without its mark", async (_name, bytes) => {
    const path = file("a.txt", bytes);
    const { llmContent } = await read(path, { offset: 19_999, limit: 2 });
    expect(llmContent).toBe(
      "[File content truncated: showing lines 20000-20001 of 20001 total lines]\nline 20000\né",
    );
    const head = await read(path, { offset: 0, limit: 1 });
    expect(String(head.llmContent).split("]\n")[1]).toBe("line 1\n");
  });
});

describe("other content", () => {
  it.each([
    ["a.zip", Buffer.from("504b0304140000000800", "hex")],
    ["a.mp3", Buffer.from("49443304000000000000", "hex")],
    ["a.txt", Buffer.from([1, 2, 3, 4, 5, 6, 0x41])],
    ["data", Buffer.from("text and then\0a byte that no text has")],
  ])("R62 X14 of %s is not shown, and the full path is told", async (name, bytes) => {
    const path = file(name, bytes);
    expect((await read(path)).llmContent).toBe(`Cannot display content of binary file: ${path}`);
  });

  it("R60 of a notebook comes cell by cell, with long outputs cut", async () => {
    const notebook = {
      cells: [
        { cell_type: "markdown", metadata: {}, source: ["# Title\n", "words"] },
        {
          cell_type: "code",
          execution_count: 3,
          metadata: {},
          source: "print('x' * 5000)",
          outputs: [
            { output_type: "stream", name: "stdout", text: ["x".repeat(5000)] },
            { output_type: "display_data", data: { "image/png": "AAAA", "text/plain": ["<Figure>"] } },
            { output_type: "error", ename: "E", evalue: "v", traceback: ["\u001b[31mE\u001b[0m: v"] },
          ],
        },
      ],
      metadata: { kernelspec: { language: "python" } },
      nbformat: 4,
      nbformat_minor: 5,
    };
    const { llmContent } = await read(file("a.ipynb", JSON.stringify(notebook)));
    const text = String(llmContent);
    expect(text).toContain("## Cell 1 (markdown)\n# Title\nwords\n");
    expect(text).toContain("## Cell 2 (code, run as [3])\n```python\nprint('x' * 5000)\n```\n");
    expect(text).toContain("[... 3000 more characters of output]");
    expect(text).toContain("<Figure>");
    expect(text).toContain("[output: image/png]");
    expect(text).toContain("```error\nE: v\n```");
    expect(text.length).toBeLessThan(3000);
    expect(text).not.toContain("AAAA");
  });

  it("R60 of JSON that only begins like a notebook is text", async () => {
    const json = '{ "cells": [1, 2], "metadata": {} }\n';
    expect((await read(file("a.json", json))).llmContent).toBe(json);
    const broken = '{ "cells": [ , "nbformat": 4';
    expect((await read(file("a.ipynb", broken))).llmContent).toBe(broken);
  });
});
