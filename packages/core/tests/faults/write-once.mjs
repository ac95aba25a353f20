// One call of write_file in a process of its own: root, path, letter, size. Prints the result as JSON.
import { createToolbox } from "./core.mjs";

const [root = "", path = "", letter = "", size = "0"] = process.argv.slice(2);
const toolbox = createToolbox({ root, approvalMode: "yolo", overwriteUnread: true });
const content = `${letter.repeat(79)}\n`.repeat(Number(size) / 80);
const { llmContent, error } = await toolbox.call("write_file", { file_path: path, content });
process.stdout.write(JSON.stringify({ llmContent, error }));
