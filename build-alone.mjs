// One build at a time in one clone: two would take away each other's files.
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const PAUSE_MS = 100;
/** No build takes so long: the number of its process may be another's by now. */
const LONGEST_MS = 300_000;

/**
 * Holds the file until this process ends; waits while another process that lives holds it.
 * @param {string} file
 */
export async function holdAlone(file) {
  for (;;) {
    try {
      writeFileSync(file, `${process.pid}`, { flag: "wx" });
      process.once("exit", () => rmSync(file, { force: true }));
      return;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    if (isHeld(file)) await pause(PAUSE_MS);
    else rmSync(file, { force: true });
  }
}

/** @param {string} file */
function isHeld(file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > LONGEST_MS) return false;
    return process.kill(Number(readFileSync(file, "utf8")) || process.pid, 0);
  } catch (error) {
    // Not there any more is not free: yet another process may have taken it.
    return /** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH";
  }
}
