// Kills a process at random moments of a large write_file. The file must hold the old or the new content.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WRITE_ONCE = fileURLToPath(new URL("./write-once.mjs", import.meta.url));

/**
 * @param {{ times: number, bytes: number }} how
 * @returns {Promise<{ old: number, fresh: number, mixed: number, interrupted: number }>}
 */
export async function killDuringWrite({ times, bytes }) {
  const root = mkdtempSync(join(tmpdir(), "burin-kill-"));
  const path = join(root, "file.txt");
  const old = Buffer.from(`${"a".repeat(79)}\n`.repeat(bytes / 80));
  const fresh = Buffer.from(`${"b".repeat(79)}\n`.repeat(bytes / 80));
  const found = { old: 0, fresh: 0, mixed: 0, interrupted: 0 };
  try {
    writeFileSync(path, old);
    const usual = await writeAndKill([root, path, "b", String(bytes)], null);
    for (let time = 0; time < times; time += 1) {
      writeFileSync(path, old);
      await writeAndKill([root, path, "b", String(bytes)], Math.random() * usual);
      const now = readFileSync(path);
      if (now.equals(old)) found.old += 1;
      else if (now.equals(fresh)) found.fresh += 1;
      else found.mixed += 1;
      const left = readdirSync(root).filter((name) => name !== "file.txt");
      if (left.length > 0) found.interrupted += 1;
      for (const name of left) rmSync(join(root, name));
    }
    return found;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/**
 * How long it took, or was let live.
 * @param {readonly string[]} args
 * @param {number | null} lifetime
 * @returns {Promise<number>}
 */
function writeAndKill(args, lifetime) {
  const start = performance.now();
  const child = spawn(process.execPath, [WRITE_ONCE, ...args], { stdio: "ignore" });
  const timer = lifetime === null ? undefined : setTimeout(() => child.kill("SIGKILL"), lifetime);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      resolve(performance.now() - start);
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = await killDuringWrite({ times: Number(process.argv[2] ?? 200), bytes: 50_000_000 });
  process.stdout.write(`${JSON.stringify(found)}\n`);
  process.exitCode = found.mixed === 0 ? 0 : 1;
}
