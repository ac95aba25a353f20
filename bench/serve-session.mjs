// A session in a process of its own: what bench/serve.mjs compares an editor's with. Prints when each prompt began.
import { setTimeout as pause } from "node:timers/promises";

const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;
const { createSession } = await import(CORE);
const session = createSession({ root: process.cwd(), record: true });
// As long as an editor's session is open before anybody has typed.
await pause(Number(process.argv[3]));
for (let count = 0; count < Number(process.argv[2]); count += 1) {
  process.stdout.write(`${process.hrtime.bigint()}\n`);
  for await (const _ of session.run("hello"));
}
await session.close();
