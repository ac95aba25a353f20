// Tools in a running container: node container.mjs NAME /work CALL...
import { fileURLToPath } from "node:url";
import { runCalls } from "./run-calls.mjs";
import { shellFunctions } from "./shell-functions.mjs";

/**
 * The container needs a POSIX shell with the usual programs; Alpine's are enough.
 * @param {string} name @param {string} [program] `podman` works too
 */
export function containerFunctions(name, program = "docker") {
  return shellFunctions((script, args) => [program, ["exec", "-i", name, "sh", "-c", script, "sh", ...args]]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name = "", root = "/", ...calls] = process.argv;
  await runCalls(containerFunctions(name), root, calls);
}
