// Reads and writes below a folder that another process swaps with a link leading out, as fast as it can.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToolbox } from "./core.mjs";

// A write makes a folder that it does not find: what it made in between is put aside before the next swap.
const SWAPPER = `
  const { existsSync, renameSync, symlinkSync } = require("node:fs");
  let made = 0;
  const [folder, outside] = process.argv.slice(1);
  symlinkSync(outside, folder + ".link");
  process.stdout.write("ready");
  function put(from) {
    for (;;) {
      try {
        return renameSync(from, folder);
      } catch {
        // It may be gone again by now: whoever made it also takes back what it could not use.
        try {
          if (existsSync(folder)) renameSync(folder, folder + ".made-" + (made += 1));
        } catch {}
      }
    }
  }
  for (;;) {
    renameSync(folder, folder + ".real");
    put(folder + ".link");
    renameSync(folder, folder + ".link");
    put(folder + ".real");
  }`;

/**
 * @param {{ tries: number }} how
 * @returns {Promise<{ readInside: number, writtenInside: number, refused: number, readOutside: number, namedOutside: number, filesOutside: number }>}
 */
export async function swapRace({ tries }) {
  const top = mkdtempSync(join(tmpdir(), "burin-race-"));
  const [root, outside] = [join(top, "root"), join(top, "outside")];
  const folder = join(root, "folder");
  mkdirSync(folder, { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(folder, "file.txt"), "inside\n");
  writeFileSync(join(outside, "file.txt"), "OUTSIDE\n");
  writeFileSync(join(outside, "secret-plan.txt"), "OUTSIDE\n");
  const swapper = spawn(process.execPath, ["-e", SWAPPER, folder, outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => swapper.once("close", resolve));
  await Promise.race([gone, new Promise((resolve) => swapper.stdout.once("data", resolve))]);
  const toolbox = createToolbox({ root, approvalMode: "yolo", overwriteUnread: true });
  const found = {
    readInside: 0,
    writtenInside: 0,
    refused: 0,
    readOutside: 0,
    namedOutside: 0,
    filesOutside: 0,
  };
  try {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const isRead = attempt % 2 === 0;
      const read = attempt % 4 === 0 ? "file.txt" : "secret-plans.txt";
      const path = join(folder, isRead ? read : `new-${attempt % 50}/deep.txt`);
      const { llmContent, error } = isRead
        ? await toolbox.call("read_file", { path })
        : await toolbox.call("write_file", { file_path: path, content: `written ${attempt}\n` });
      if (String(llmContent).includes("OUTSIDE\n")) found.readOutside += 1;
      else if (String(llmContent).includes("secret-plan.txt")) found.namedOutside += 1;
      else if (error) found.refused += 1;
      else if (isRead) found.readInside += 1;
      else found.writtenInside += 1;
    }
    if (swapper.exitCode !== null) throw new Error("The swapping ended too early.");
  } finally {
    swapper.kill("SIGKILL");
    await gone;
  }
  const unchanged = readFileSync(join(outside, "file.txt"), "utf8") === "OUTSIDE\n";
  found.filesOutside = readdirSync(outside).length - 2 + (unchanged ? 0 : 1);
  rmSync(top, { recursive: true, force: true });
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = await swapRace({ tries: Number(process.argv[2] ?? 20_000) });
  process.stdout.write(`${JSON.stringify(found)}\n`);
  process.exitCode = found.readOutside + found.namedOutside + found.filesOutside === 0 ? 0 : 1;
}
