import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashBytes } from "../disk/regular-file.ts";
import { ReadRecord, type SeenFile } from "./read-record.ts";

const FILE = "/project/a.txt";

function shown(lines: readonly string[], firstLine: number, lastLine: number) {
  const hash = hashBytes(Buffer.from(lines.slice(firstLine - 1, lastLine).join("")));
  return { firstLine, lastLine, totalLines: lines.length, hash };
}

function present(text: string) {
  const bytes = Buffer.from(text);
  return { bytes, hash: hashBytes(bytes) };
}

describe("what was shown of a file", () => {
  it("P2 P25 is told by the lines alone that were shown", () => {
    const line = fc.constantFrom("a\n", "bb\n", "\n", "ccc\r\n");
    const range = fc.tuple(fc.nat(12), fc.nat(12));
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.array(range, { minLength: 1, maxLength: 4 }),
        fc.record({
          end: fc.constantFrom("", "last"),
          change: fc.option(fc.nat(11)),
        }),
        (lines, ranges, { end, change }) => {
          const all = end === "" ? lines : [...lines, end];
          const record = new ReadRecord();
          const told = ranges.map(([one, other]) => {
            const [first, last] = [Math.min(one, other), Math.max(one, other)];
            return [Math.min(first, all.length - 1) + 1, Math.min(last, all.length - 1) + 1] as const;
          });
          for (const [first, last] of told) record.note({ file: FILE, lines: shown(all, first, last) });
          const now = all.map((text, index) => (index === change ? `X${text}` : text));
          const isTouched = told.some(
            ([first, last]) => change !== null && first - 1 <= change && change < last,
          );
          const isChanged = isTouched && (change ?? 0) < all.length;
          const covered = all.every((_line, index) =>
            told.some(([first, last]) => first - 1 <= index && index < last),
          );
          const expected = isChanged ? "older" : covered ? "all" : "part";
          expect(record.findSeenExtent(FILE, present(now.join("")))).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("P2 is nothing of the one that holds more or fewer lines than it had", () => {
    const record = new ReadRecord();
    record.note({ file: FILE, lines: shown(["a\n", "b\n"], 1, 1) });
    for (const text of ["a\n", "a\nb\nc", "a\nb\nc\n"]) {
      expect(record.findSeenExtent(FILE, present(text))).toBe("older");
    }
  });

  it("P25 is all of what the model wrote, until it is something else", () => {
    const record = new ReadRecord();
    record.note({ file: FILE, whole: hashBytes(Buffer.from("written\n")) });
    expect(record.findSeenExtent(FILE, present("written\n"))).toBe("all");
    expect(record.findSeenExtent(FILE, present("other\n"))).toBe("older");
    record.note({ file: FILE });
    expect(record.findSeenExtent(FILE, present("other\n"))).toBe("nothing");
  });

  it.each(["at once", "when there was time"])(
    "P2 P25 is hashed behind the answer, and compared %s",
    async (when) => {
      const noted: SeenFile[] = [];
      const record = new ReadRecord({
        recall: () => [],
        note: (seen) => void noted.push(seen),
      });
      record.noteWholeFile(FILE, Buffer.from("read\n"));
      if (when !== "at once") await new Promise((resolve) => setImmediate(resolve));
      expect(record.findSeenExtent(FILE, present("read\n"))).toBe("all");
      expect(record.findSeenExtent(FILE, present("other\n"))).toBe("older");
      expect(JSON.parse(JSON.stringify(noted))).toEqual([
        { file: FILE, whole: hashBytes(Buffer.from("read\n")) },
      ]);
      record.note({ file: FILE });
      expect(record.findSeenExtent(FILE, present("read\n"))).toBe("nothing");
    },
  );
});
