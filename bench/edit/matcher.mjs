// The one place that knows what is measured: the matcher as it stands in the sources, bundled by itself.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../../build.mjs";

const SOURCE = new URL("../../packages/edit-match/src/edit-match.ts", import.meta.url);
/** The whole tool, as it was built last: for what the matcher alone cannot show. */
const CORE = new URL("../../packages/core/dist/index.js", import.meta.url);

/** What `leaveOut` may name; docs/edit-matching.md has an example of each. */
const RULES = [
  "placeholders",
  "trailing spaces",
  "indentation",
  "spaces",
  "blank lines",
  "line breaks",
  "look-alike characters",
  "invisible characters",
  "code fences",
  "line numbers",
  "diff markers",
  "escapes",
  "lost escapes",
  "HTML entities",
  "left-out lines",
  "a typo",
  "a line left out",
];

/** @typedef {{ status: string, stage?: string, replacements?: { start: number, end: number, text: string }[] }} Match */
/** @typedef {{ file: string, oldText: string, newText: string, expected: number, outdated?: boolean, where?: string }} Edit */

/**
 * @typedef {object} Matcher
 * @property {readonly string[]} rules names that `leaveOut` may hold
 * @property {(edit: Edit, leaveOut?: readonly string[]) => string | null} apply the file after the edit, null if refused
 * @property {(edit: Edit) => boolean} seesPlaceholder whether it is refused for a placeholder in the new text
 */

/** @returns {Promise<Matcher>} */
export async function loadMatcher() {
  const folder = await mkdtemp(join(tmpdir(), "burin-bench-matcher-"));
  try {
    await bundle({ matcher: fileURLToPath(SOURCE) }, { dir: folder, format: "esm", extension: ".mjs" });
    const { findEdit, applyReplacements } = await import(pathToFileURL(join(folder, "matcher.mjs")).href);
    return {
      rules: RULES,
      seesPlaceholder: ({ file, oldText, newText, expected }) =>
        findEdit({ content: file, oldText, newText, expected }).status === "omission",
      apply: ({ file, oldText, newText, expected, outdated, where = "" }, leaveOut) => {
        const request = { content: file, oldText, newText, expected };
        /** @type {Match} */
        const match = findEdit({
          ...request,
          fileName: where.replace(/:\d+$/, ""),
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

/**
 * The edit tool on a real file: its bytes after the call, or null if it said that it failed.
 * @returns {Promise<{ edit: (bytes: Buffer, edit: Edit) => Promise<Buffer | null>, end: () => Promise<void> } | null>}
 */
export async function loadTool() {
  if (!existsSync(fileURLToPath(CORE))) return null;
  const { createToolbox } = await import(CORE.href);
  const root = await mkdtemp(join(tmpdir(), "burin-bench-tool-"));
  const toolbox = createToolbox({ root, approvalMode: "yolo" });
  let count = 0;
  return {
    edit: async (bytes, { oldText, newText, expected }) => {
      const path = join(root, `file-${count++}.txt`);
      await writeFile(path, bytes);
      const { error } = await toolbox.call("edit", {
        file_path: path,
        old_string: oldText,
        new_string: newText,
        expected_replacements: expected,
      });
      return error ? null : readFile(path);
    },
    end: () => rm(root, { recursive: true, force: true }),
  };
}
