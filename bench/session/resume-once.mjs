// Takes up a session: root, home, its id. Prints how long that took in milliseconds.
const { createSession, resumeSession } = await import(
  new URL("../../packages/core/dist/index.js", import.meta.url).href
);

const [root = "", home = "", id = "big"] = process.argv.slice(2);
const started = performance.now();
const resume = await resumeSession({ home, root, id });
const session = createSession({
  root,
  environment: { BURIN_HOME: home },
  model: { name: "m", stream: async function* () {} },
  resume,
});
const { length } = session.history;
process.stdout.write(String(performance.now() - started));
await session.close();
if (length < 2) throw new Error("The history is not there.");
