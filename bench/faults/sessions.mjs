// Sessions that are killed at random moments and gone on with.
import { killSessions } from "../../packages/core/tests/faults/kill-session.mjs";

const TIMES = 60;

export async function run() {
  const { killed, inTheMiddle, maybe } = await killSessions(TIMES);
  console.log(
    `${killed} sessions killed, ${inTheMiddle} of them between their calls; ${maybe} calls may have run`,
  );
}
