// Tools on a computer behind SSH, with the keys and settings that `ssh` uses: node ssh.mjs HOST /home/me/project CALL...
import { fileURLToPath } from "node:url";
import { runCalls } from "./run-calls.mjs";
import { shellFunctions } from "./shell-functions.mjs";

/** One connection for all calls; the last one keeps it open for a minute. */
const SHARED = ["-o", "ControlMaster=auto", "-o", "ControlPath=~/.ssh/burin-%C", "-o", "ControlPersist=60"];

/** ssh joins its arguments with spaces, and the shell there reads them again. @param {string} word */
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** @param {string} host as `ssh` takes it, such as me@build-7 */
export function sshFunctions(host) {
  return shellFunctions((script, args) => {
    const line = ["sh", "-c", script, "sh", ...args].map(quoted).join(" ");
    return ["ssh", [...SHARED, "-o", "BatchMode=yes", "-T", "--", host, line]];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , host = "", root = "/", ...calls] = process.argv;
  await runCalls(sshFunctions(host), root, calls);
}
