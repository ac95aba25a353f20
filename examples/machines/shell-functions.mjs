// The files and commands of a computer whose POSIX shell can be started: in a container, or behind SSH.
import { spawn } from "node:child_process";

/** Ends the command, and what it has started, when the input of this script ends: the connection may be all there is. */
const RUN = `cd -- "$1" || exit
exec 3<&0
if command -v setsid >/dev/null; then setsid sh -c "$2" </dev/null 3<&- & group=-; else sh -c "$2" </dev/null 3<&- & group=; fi
child=$!
{ cat <&3 >/dev/null 2>&1; kill -KILL "$group$child"; } >/dev/null 2>&1 &
watcher=$!
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"`;
const LIST = `cd -- "$1" || exit 9
for f in * .[!.]* ..?*; do
  if [ -d "$f" ]; then printf 'd%s\\0' "$f"; elif [ -e "$f" ] || [ -L "$f" ]; then printf 'f%s\\0' "$f"; fi
done`;
const WRITE = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"';
const STAT =
  '[ -e "$1" ] || exit 9; if [ -d "$1" ]; then echo d; else echo f; fi; stat -L -c "%s %Y" -- "$1"';
const NOTHING_THERE = 9;

/**
 * @param {(script: string, args: readonly string[]) => readonly [string, readonly string[]]} commandLine what to start
 *   here, so that the script runs there with the arguments
 * @returns {import("@burin/core/machine").MachineFunctions}
 */
export function shellFunctions(commandLine) {
  /** @param {string} script @param {string} path @param {Uint8Array} [input] */
  const run = async (script, path, input) => {
    const child = start(commandLine(script, [path]));
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([bytesOf(child.stdout), bytesOf(child.stderr)]);
    const code = await child.ended;
    if (code === 0) return stdout;
    const error = new Error(stderr.toString("utf8").trim() || `exit code ${code}`);
    throw code === NOTHING_THERE ? Object.assign(error, { code: "ENOENT" }) : error;
  };
  return {
    readFile: (path) => run('[ -e "$1" ] || exit 9; cat -- "$1"', path),
    writeFile: (path, content) => run(WRITE, path, content),
    stat: async (path) => {
      const [kind, numbers = ""] = (await run(STAT, path)).toString("utf8").split("\n");
      const [size, seconds] = numbers.split(" ").map(Number);
      return { isDirectory: kind === "d", size: size ?? 0, mtimeMs: (seconds ?? 0) * 1000 };
    },
    readdir: async (path) => {
      const entries = (await run(LIST, path)).toString("utf8").split("\0").filter(Boolean);
      return entries.map((entry) => ({ name: entry.slice(1), isDirectory: entry.startsWith("d") }));
    },
    realpath: async (path) =>
      (await run('readlink -f -- "$1" || exit 9', path)).toString("utf8").replace(/\n$/, ""),
    exec: async (command, { cwd, signal, onOutput }) => {
      const child = start(commandLine(RUN, [cwd, command]));
      const stop = () => child.stdin.end();
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
      child.stdout.on("data", onOutput);
      child.stderr.on("data", onOutput);
      const exitCode = await child.ended;
      signal.removeEventListener("abort", stop);
      child.stdin.end();
      return { exitCode };
    },
  };
}

/** @param {readonly [string, readonly string[]]} commandLine */
function start([program, args]) {
  const child = spawn(program, args);
  // It may end before it has read its input; the exit code says so.
  child.stdin.on("error", () => {});
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (/** @type {number | null} */ code) => resolve(code));
  });
  ended.catch(() => {});
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended };
}

/** @param {import("node:stream").Readable} stream */
async function bytesOf(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}
