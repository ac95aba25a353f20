// Sessions of bench/fleet.mjs without the fleet, in one process: folder, home, first sessions, further ones, side by
// side. Prints its CPU time in ms behind the first ones, and behind all.
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;
const { createSession } = await import(CORE);
const [project = "", home = "", first, later, sideBySide] = process.argv.slice(2);
const before = process.cpuUsage();
let begun = 0;

/** @param {number} upTo */
async function work(upTo) {
  while (begun < upTo) {
    begun += 1;
    const place = join(home, String(begun));
    const root = join(place, "project");
    await mkdir(root, { recursive: true });
    await cp(project, root, { recursive: true });
    const environment = { ...process.env, BURIN_HOME: join(place, "home") };
    const settings = { sandbox: { mode: "off" } };
    const session = createSession({ root, settings, environment, approvalMode: "yolo", record: true });
    for await (const _ of session.run("go"));
    await session.close();
  }
}

for (const upTo of [Number(first), Number(first) + Number(later)]) {
  await Promise.all(Array.from({ length: Number(sideBySide) }, () => work(upTo)));
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${(user + system) / 1000} `);
}
