import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { ContextFiles } from "./context-files.ts";
import { Conversation } from "./conversation.ts";

/** Replaces the first name in turn by a file and by a link to another file. */
const SWAPPER = `
  const { renameSync, symlinkSync, writeFileSync } = require("node:fs");
  const [name, outside] = process.argv.slice(1);
  for (let count = 0; ; count += 1) {
    symlinkSync(outside, name + ".new");
    renameSync(name + ".new", name);
    writeFileSync(name + ".new", "inside");
    renameSync(name + ".new", name);
    if (count === 0) process.stdout.write("ready");
  }`;

it("P38 a file above the root that is swapped for a link to the outside is never read there", {
  timeout: 60_000,
}, async () => {
  const top = createTemporaryFolder();
  const root = join(top, "repo", "package");
  mkdirSync(root, { recursive: true });
  mkdirSync(join(top, "repo", ".git"));
  writeFileSync(join(top, "secret"), "OUTSIDE");
  const swapper = spawn(process.execPath, [
    "-e",
    SWAPPER,
    join(top, "repo", "AGENTS.md"),
    join(top, "secret"),
  ]);
  await once(swapper.stdout, "data");
  try {
    const seen = { inside: 0, outside: 0 };
    while (seen.inside < 500 && seen.outside === 0) {
      const places = { home: join(top, "home"), roots: [root], fileNames: [], maxCharacters: 1000 };
      const files = new ContextFiles({ ...places, readInside: async () => null }, new Conversation());
      for (const event of await files.readInitial())
        seen[JSON.stringify(event).includes("OUTSIDE") ? "outside" : "inside"] += 1;
    }
    expect(seen).toEqual({ inside: 500, outside: 0 });
  } finally {
    swapper.kill();
  }
});
