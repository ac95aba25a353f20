// Writes the table of models that ships, from the data of a package: node model-table.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
export const TABLE_FILE = fileURLToPath(
  new URL("packages/models/src/choice/model-table.json", import.meta.url),
);

/** When the version of the package that is installed was published. */
const PUBLISHED = "2026-09-23";

/**
 * @typedef {{ fullName: string, contextWindow: number, maxOutputTokens: number, inputPrice: number,
 *   outputPrice: number, capabilities: { supportsVision?: boolean, supportsPromptCaching?: boolean,
 *   cacheDiscountFactor?: number } }} Known
 */

/** The text of the table, as the package has it now. */
export function tableText() {
  /** @type {{ MODEL_CONFIGS: Record<string, Known> }} */
  const { MODEL_CONFIGS } = require("llm-zoo");
  const { version } = JSON.parse(
    readFileSync(join(dirname(require.resolve("llm-zoo")), "../package.json"), "utf8"),
  );
  /** @type {Map<string, string>} */
  const rows = new Map();
  for (const known of Object.values(MODEL_CONFIGS)) {
    const name = plainName(known.fullName);
    // Previews of a month go away, and what one seller calls otherwise has other prices.
    if (/preview-\d\d-\d{4}$|^copilot-/.test(known.fullName)) continue;
    // What it says of one model twice are ways to be asked; the first one is the plain one.
    if (!rows.has(name)) rows.set(name, rowOf(name, known));
  }
  const about =
    "A model a line: name, window, most output, whether it sees images, dollars for a million tokens in, out and cached.";
  const source = `llm-zoo ${version} (MIT), read by model-table.mjs; not to be changed by hand`;
  const models = [...rows.values()].sort();
  return `${JSON.stringify({ source, date: PUBLISHED, about, models }, null, 2)}\n`;
}

/**
 * @param {string} name
 * @param {Known} known
 */
function rowOf(name, known) {
  const { contextWindow, maxOutputTokens, inputPrice, outputPrice, capabilities } = known;
  const { supportsVision, supportsPromptCaching, cacheDiscountFactor } = capabilities;
  const isCached = supportsPromptCaching === true && typeof cacheDiscountFactor === "number";
  const cached = isCached ? Number((inputPrice * cacheDiscountFactor).toFixed(6)) : inputPrice;
  const sees = supportsVision ? "images" : "-";
  return [name, contextWindow, maxOutputTokens, sees, inputPrice, outputPrice, cached].join(" ");
}

/** @param {string} name As `plainName` of known-model.ts. */
function plainName(name) {
  return name
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/-(?:\d{4}-\d\d-\d\d|\d{8})$/, "")
    .replaceAll(".", "-");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TABLE_FILE, tableText());
