import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The command line is tested as it is shipped; so it is built before the first test. */
export default function buildOnce(): void {
  if (process.env.BURIN_INSTALLED !== undefined) return;
  const script = fileURLToPath(new URL("../../../build.mjs", import.meta.url));
  execFileSync(process.execPath, [script, "--no-types"], { stdio: "inherit" });
}
