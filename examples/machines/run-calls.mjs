// Runs the calls that the command line names on a machine: node bucket.mjs URL /project '{"name":"glob","args":{...}}'
import { createToolbox } from "@burin/core";
import { machineOf } from "@burin/core/machine";

/**
 * Each call is JSON with a name and args; each answer is printed as a line of JSON.
 * @param {import("@burin/core/machine").MachineFunctions} functions
 * @param {string} root
 * @param {readonly string[]} calls
 */
export async function runCalls(functions, root, calls) {
  // Whoever writes the calls means them, so nothing asks.
  const toolbox = createToolbox({ root, machine: machineOf(functions), approvalMode: "yolo" });
  const controller = new AbortController();
  process.once("SIGINT", () => controller.abort());
  const { signal } = controller;
  for (const call of calls) {
    const [answer] = await toolbox.callAll([JSON.parse(call)], { signal });
    const { status, llmContent, data, error } = answer ?? {};
    console.log(JSON.stringify({ status, llmContent, data, error }));
  }
  await toolbox.close();
}
