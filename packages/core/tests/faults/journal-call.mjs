// One call of a toolbox, or one undo, in a process of its own: root, home, and a command or nothing.
// Prints a line just before it begins.
import { createToolbox, undo } from "./core.mjs";

const [root = "", home = "", command] = process.argv.slice(2);
const environment = { ...process.env, BURIN_HOME: home };

if (command === undefined) {
  process.stdout.write("begun\n");
  const { files } = await undo({ home, root, environment, count: 1 });
  process.stdout.write(
    `${JSON.stringify(files.filter((/** @type {{ what: string }} */ { what }) => what === "refused"))}\n`,
  );
} else {
  const settings = { sandbox: { mode: "off" } };
  const toolbox = createToolbox({ root, environment, settings, approvalMode: "yolo", record: true });
  process.stdout.write("begun\n");
  await toolbox.call("run_shell_command", { command });
  await toolbox.close();
}
