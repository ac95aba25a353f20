// Process tests: what several Burins at once, or one that is killed, do to files. npm run faults [-- sandbox]
import { existsSync, readdirSync } from "node:fs";

/** Each has `run()`, which prints its figures and throws when something does not hold. */
const all = readdirSync(new URL(".", import.meta.url))
  .filter((name) => name.endsWith(".mjs") && name !== "run.mjs" && !name.endsWith("-process.mjs"))
  .map((name) => name.slice(0, -".mjs".length));

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}; there are: ${all.join(", ")}.`);
  process.exit(1);
}
if (!existsSync(new URL("../../packages/core/dist/index.js", import.meta.url))) {
  console.error("Build it first: npm run build");
  process.exit(1);
}
for (const name of asked.length > 0 ? asked : all) {
  const started = performance.now();
  console.log(`\n${name}`);
  try {
    /** @type {{ run(): Promise<void> }} */
    const { run } = await import(new URL(`./${name}.mjs`, import.meta.url).href);
    await run();
    console.log(`holds   ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : error}`);
  }
}
