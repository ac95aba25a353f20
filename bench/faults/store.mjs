// What is kept for undo over many commands stays within its limit. COMMANDS=5000 npm run faults -- store
import { runCommands } from "../../packages/core/tests/faults/journal-store.mjs";

const MIB = 1024 * 1024;

export async function run({ count = Number(process.env.COMMANDS ?? 300) } = {}) {
  const { commands, most, files, lists, slower } = await runCommands(count, MIB / 4);
  console.log(
    `${commands} commands of 256 KB each: at most ${(most / MIB).toFixed(0)} MB kept, ${files} files at the end, ` +
      `${(lists / commands).toFixed(0)} bytes of journal for each; the last tenth takes ${slower.toFixed(2)}x the first`,
  );
}
