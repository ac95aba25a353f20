// Burin is killed at random moments of commands and undos; all can be taken back. KILLS=200 node bench/faults/run.mjs journal
import { killJournals } from "../../packages/core/tests/faults/kill-journal.mjs";

export async function run({ kills = Number(process.env.KILLS ?? 40) } = {}) {
  const { killed, inCommand, inUndo, locks } = await killJournals(kills);
  console.log(
    `${killed} kills: ${inCommand} in a command, ${inUndo} in an undo; all was taken back. Git had left ${locks} locks.`,
  );
}
