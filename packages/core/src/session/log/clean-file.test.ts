import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanFile } from "./clean-file.ts";
import { Redactor } from "./redactor.ts";

const KEY = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(20)}-----END PRIVATE KEY-----`;
const TOKEN = "AKIAIOSFODNN7EXAMPLE";
const VALUE = "pässwörd:4711/canary";
const redactor = new Redactor({ environment: { MY_API_KEY: VALUE } }, "latin1");
let folder: string;
let file: string;

beforeAll(() => {
  folder = createTemporaryFolder();
  file = join(folder, "output.txt");
});
afterAll(() => rmSync(folder, { recursive: true }));

async function cleaned(content: string | Buffer): Promise<string> {
  writeFileSync(file, content, { mode: 0o600 });
  await cleanFile(file, redactor);
  expect(readdirSync(folder)).toEqual(["output.txt"]);
  return readFileSync(file, "utf8");
}

describe("a long output on disk", () => {
  it.each([
    ["lines", "one two\n"],
    ["one line", "word "],
    ["bytes without a blank", "x=;"],
  ])("P19 loses its secrets wherever they stand in %s, and nothing else", async (_what, filler) => {
    // Positions around the boundaries between chunks of the file.
    for (const place of [0, 100, 240_000, 245_500, 245_755, 245_760, 262_100, 262_143, 500_000]) {
      const before = filler.repeat(Math.ceil(place / filler.length)).slice(0, place);
      const after = filler.repeat(100_000);
      for (const [secret, mark] of [
        [KEY, "[redacted: private key]"],
        [TOKEN, "[redacted: token]"],
        [VALUE, "[redacted: MY_API_KEY]"],
      ] as const) {
        const content = `${before}\n${secret}\n${after}`;
        expect((await cleaned(content)) === content.replace(secret, mark), `${secret} at ${place}`).toBe(
          true,
        );
      }
    }
  });

  it("P19 stays the very same file where it has none, and is its owner's alone where it had", async () => {
    const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index % 256));
    writeFileSync(file, bytes, { mode: 0o600 });
    const { ino } = statSync(file);
    await cleanFile(file, redactor);
    expect(statSync(file).ino).toBe(ino);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    writeFileSync(file, Buffer.concat([bytes, Buffer.from(` ${TOKEN} `), bytes]));
    await cleanFile(file, redactor);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file).equals(Buffer.concat([bytes, Buffer.from(" [redacted: token] "), bytes]))).toBe(
      true,
    );
  });
});
