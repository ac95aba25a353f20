// The one place that knows what is measured: the matcher as it stands in the sources, bundled by itself.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../../build.mjs";

const SOURCE = new URL("../../packages/core/src/text/edit-match.ts", import.meta.url);

/** @typedef {{ status: string, stage?: string, replacements?: { start: number, end: number, text: string }[] }} Match */
/** @typedef {{ file: string, oldText: string, newText: string, expected: number, outdated?: boolean }} Edit */

/**
 * @typedef {object} Matcher
 * @property {readonly string[]} rules names that `leaveOut` may hold
 * @property {(edit: Edit, leaveOut?: readonly string[]) => string | null} apply the file after the edit, null if refused
 */

/** @returns {Promise<Matcher>} */
export async function loadMatcher() {
  const folder = await mkdtemp(join(tmpdir(), "burin-bench-matcher-"));
  try {
    await bundle({ matcher: fileURLToPath(SOURCE) }, { dir: folder, format: "esm", extension: ".mjs" });
    const {
      findEdit,
      applyReplacements,
      RULES = [],
    } = await import(pathToFileURL(join(folder, "matcher.mjs")).href);
    return {
      rules: RULES,
      apply: ({ file, oldText, newText, expected, outdated }, leaveOut) => {
        const request = { content: file, oldText, newText, expected };
        /** @type {Match} */
        const match = findEdit({
          ...request,
          ...(outdated === true ? { isOutdated: true } : {}),
          ...(leaveOut === undefined ? {} : { leaveOut }),
        });
        return match.status === "matched" ? String(applyReplacements(file, match.replacements)) : null;
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
