// An application of the engine as a worker of the fleet is one, without the fleet: its tasks count.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import pg from "pg";

const [url = "", name = "", version = "", folder = ""] = process.argv.slice(2);
const STEPS = 3;
const json = {
  name: () => "json",
  stringify: (/** @type {unknown} */ value) => JSON.stringify(value) ?? "null",
  parse: (/** @type {string | null | undefined} */ text) => (text ? JSON.parse(text) : null),
};
const silent = { info() {}, debug() {}, warn() {}, error() {} };

/** @param {string} words */
function tell(words) {
  appendFileSync(join(folder, "told"), `${name} ${words}\n`);
}

/** Each step says that it has begun and waits for a file of its number. @param {string} task */
async function count(task) {
  const done = [];
  for (let step = 0; step < STEPS; step += 1) {
    const work = async () => {
      tell(`begins ${task} ${step}`);
      while (!existsSync(join(folder, `${task}-${step}`))) await pause(20);
      return `${step} by ${name}`;
    };
    try {
      done.push(await DBOS.runStep(work, { name: "step" }));
    } catch (error) {
      tell(`refused ${task} ${step} ${/** @type {Error} */ (error).constructor.name}`);
      throw error;
    }
  }
  const message = await DBOS.recv("words", { timeoutSeconds: 0 });
  return { done, message };
}

const life = new pg.Client({ connectionString: url });
life.on("error", () => {});
await life.connect();
await life.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
DBOS.setConfig({
  name: "contract",
  systemDatabaseUrl: url,
  executorID: name,
  applicationVersion: version,
  serializer: json,
  logger: silent,
  runMigrations: false,
  listenQueues: [`own:${name}`],
  useListenNotify: false,
  systemDatabaseIdleTransactionTimeoutMs: 0,
});
DBOS.registerWorkflow(count, { name: "count", maxRecoveryAttempts: 1000 });
const options = { systemDatabaseUrl: url, serializer: json, logger: silent };
const client = await DBOSClient.create({
  ...options,
  applicationName: "contract",
  systemDatabaseIdleTransactionTimeoutMs: 0,
});
await client.registerQueue(`own:${name}`, { workerConcurrency: 4, minPollingIntervalMs: 50 });
await DBOS.launch();
tell("works");
