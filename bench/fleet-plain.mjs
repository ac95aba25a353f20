// Sessions of bench/fleet.mjs without the fleet, in one process: folder, home, sessions, side by side. Prints its CPU time in ms.
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;
const { createSession } = await import(CORE);
const [project = "", home = "", sessions, sideBySide] = process.argv.slice(2);
const waiting = Array.from({ length: Number(sessions) }, (_, index) => index);
const before = process.cpuUsage();
const work = async () => {
  for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
    const root = join(home, "plain", String(index), "project");
    await mkdir(root, { recursive: true });
    await cp(project, root, { recursive: true });
    const environment = { ...process.env, BURIN_HOME: join(home, "plain", String(index), "home") };
    const settings = { sandbox: { mode: "off" } };
    const session = createSession({ root, settings, environment, approvalMode: "yolo", record: true });
    for await (const _ of session.run("go"));
    await session.close();
  }
};
await Promise.all(Array.from({ length: Number(sideBySide) }, work));
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / 1000}`);
