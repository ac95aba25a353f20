// npm run attack [-- repositories|reads|unasked|ends|leftovers|egress] [--seed N] [--count N] [--mode auto]: really runs what
// is let through unasked, and what a user approved, and looks at what it did. The whole proof is --count 20000, how many
// generated commands are run. With --mode the sessions work in that approval mode, where a part leaves the choice.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

/** Each answers how many attacks had an effect or harmless commands asked. */
const PARTS = {
  repositories: "repositories.mjs",
  reads: "reads.mjs",
  unasked: "unasked.mjs",
  ends: "ends.mjs",
  leftovers: "leftovers.mjs",
  egress: "egress.mjs",
};

const top = dirname(fileURLToPath(import.meta.url));
const options = /** @type {const} */ ({
  seed: { type: "string" },
  count: { type: "string" },
  mode: { type: "string" },
});
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const count = Number(values.count ?? 1000);
const parts = positionals.length > 0 ? positionals : Object.keys(PARTS);

if (!existsSync(join(top, "../../packages/core/dist/index.js"))) {
  console.error("Build first: npm run build");
  process.exit(2);
}
let failures = 0;
for (const part of parts) {
  const name = PARTS[/** @type {keyof typeof PARTS} */ (part)];
  if (name === undefined || !Number.isFinite(seed) || !Number.isFinite(count)) {
    console.error(`npm run attack [-- ${Object.keys(PARTS).join("|")}] [--seed N] [--count N]`);
    process.exit(2);
  }
  const file = join(top, name);
  if (!existsSync(file)) continue;
  console.log(`${part}, seed ${seed}`);
  failures += await (await import(pathToFileURL(file).href)).run({ seed, count, mode: values.mode });
}
process.exit(failures === 0 ? 0 : 1);
