import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTrust, readFolderTrust } from "@burin/core/internal";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseCommandLine } from "../src/args.ts";
import { openSettings, readSettings } from "../src/request/options.ts";

const before = { ...process.env };
let top: string;

beforeEach(() => {
  top = createTemporaryFolder();
  process.env = { PATH: before.PATH, BURIN_HOME: join(top, "home") };
});

afterEach(async () => {
  process.env = before;
});

it("P24 what .env of one folder says of the model counts for no other folder of the process", async () => {
  const root = join(top, "project");
  await mkdir(root);
  await writeFile(join(root, ".env"), "OPENAI_API_KEY=sk-1\n");
  const home = join(top, "home");
  const effects = (await readFolderTrust({ home, root }))?.effects ?? [];
  await (await openTrust(home)).storeAnswer(root, true, effects);
  const request = await parseCommandLine(["-p", "hi", "--root", root]);
  if (request.mode !== "prompt") throw new Error("it is a prompt");
  expect((await readSettings(request.options)).variables).toEqual({ OPENAI_API_KEY: "sk-1" });
  expect(process.env.OPENAI_API_KEY).toBeUndefined();
  await openSettings(request.options);
  expect(process.env.OPENAI_API_KEY).toBe("sk-1");
});
