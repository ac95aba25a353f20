// npm run attack [-- repositories|reads] [--seed N]: really runs what is let through unasked, and looks at what it did.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Each answers how many attacks had an effect or harmless commands asked. */
const PARTS = { repositories: "repositories.mjs", reads: "reads.mjs" };

const top = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const seedAt = words.indexOf("--seed");
const seed = seedAt === -1 ? Date.now() % 1_000_000 : Number(words[seedAt + 1]);
const named = words.filter((word, index) => !word.startsWith("--") && index !== seedAt + 1);
const parts = named.length > 0 ? named : Object.keys(PARTS);

if (!existsSync(join(top, "../../packages/core/dist/index.js"))) {
  console.error("Build first: npm run build");
  process.exit(2);
}
let failures = 0;
for (const part of parts) {
  const name = PARTS[/** @type {keyof typeof PARTS} */ (part)];
  if (name === undefined || !Number.isFinite(seed)) {
    console.error(`npm run attack [-- ${Object.keys(PARTS).join("|")}] [--seed N]`);
    process.exit(2);
  }
  const file = join(top, name);
  if (!existsSync(file)) continue;
  console.log(`${part}, seed ${seed}`);
  failures += await (await import(pathToFileURL(file).href)).run({ seed });
}
process.exit(failures === 0 ? 0 : 1);
