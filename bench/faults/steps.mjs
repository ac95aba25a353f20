// Two sessions and a user in one folder, in random steps; each undo touches only its own. STEPS=500 npm run faults -- steps
import { runSteps } from "../../packages/core/tests/faults/journal-steps.mjs";

export async function run({ steps = Number(process.env.STEPS ?? 100) } = {}) {
  const { seed, user, undo, edit, command, together } = await runSteps(steps);
  console.log(
    `${steps} steps (seed ${seed}): ${user} of the user, ${edit} edits, ${command} commands, ${together} of both at once, ${undo} undos`,
  );
}
