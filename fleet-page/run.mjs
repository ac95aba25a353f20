// Looks at the web page of the fleet, as it is built, in a browser; with --pictures FOLDER it keeps what it sees. The
// browser's driver is installed into a temporary folder of its own.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const place = mkdtempSync(join(tmpdir(), "burin-fleet-page-"));
const flag = process.argv.indexOf("--pictures");
const pictures = flag < 0 ? null : resolve(process.argv[flag + 1] ?? "pictures");
try {
  for (const name of ["package.json", "package-lock.json", "check.mjs"])
    cpSync(join(here, name), join(place, name));
  const npm = ["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", npm, { cwd: place, stdio: "inherit" });
  if (pictures !== null) mkdirSync(pictures, { recursive: true });
  const { checkPage } = await import(pathToFileURL(join(place, "check.mjs")).href);
  const room = new URL("../packages/fleet/tests/fleet-room.mjs", import.meta.url).href;
  const faults = await checkPage(await import(room), pictures);
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(`${faults.length} faults\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
