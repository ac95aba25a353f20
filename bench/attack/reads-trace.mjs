// What a trace shows that a command which only reads must not do.
import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";

const SYSTEM =
  /^\/(?:usr|lib|lib32|lib64|bin|sbin|opt|proc|dev|sys|run|var\/lib\/misc)(?:\/|$)|^\/etc\/(?:ld\.so|passwd$|group$|nsswitch|locale|localtime|magic|gitconfig|inputrc|mtab|host|resolv|debuginfod|alternatives|services|protocols|login\.defs|mailcap)|^\/(?:var)?$|^\/etc$|^\/etc\/gai\.conf$/;
const WRITABLE = /^\/dev\/(?:null|tty|pts\/.*|stdout|stderr|fd\/.*)$|^\/proc\/self\/fd\/|^pipe:|^socket:/;
const WRITES = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b/;
const CHANGES = new Set(
  "creat unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink symlinkat mknod mknodat truncate ftruncate chmod fchmodat chown lchown fchown fchownat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr utimensat utime utimes mount umount2".split(
    " ",
  ),
);
/** Before the number of a command, as the name of the shell that runs it. */
export const LINE = "burin-line-";
const LOCAL_NAMES = /sun_path="\/(?:var\/)?run\/nscd\/socket"/;

/** @param {{ trace: string, commands: readonly string[], root: string, base: string }} given */
export function findFaults({ trace, commands, root, base }) {
  const faults = [];
  const calls = parseCalls(readFileSync(trace, "utf8"));
  const lineOf = findCommandOfProcess(calls);
  /** The folder that each process is in. @type {Map<string, string>} */
  const folderOf = new Map();
  for (const { pid, call, args, result, text } of calls) {
    const folder = folderOf.get(pid) ?? root;
    const child = readChild(call, result);
    if (child !== null) folderOf.set(child, folder);
    if (call === "chdir" && result.startsWith("0")) {
      folderOf.set(pid, resolve(folder, /"([^"]*)"/.exec(args)?.[1] ?? "."));
    }
    const command = commands[lineOf.get(pid) ?? -1];
    if (command === undefined) continue;
    const what = findFault({ call, args, result, root, base, folder });
    if (what !== null) faults.push({ command, what: `${what} (${text.slice(0, 160)})` });
  }
  return faults;
}

/** @typedef {{ pid: string, call: string, args: string, result: string, text: string }} Call */

/** Each call whole, also where it was cut in two; a process is started before its first call. @param {string} trace */
function parseCalls(trace) {
  /** @type {Map<string, { text: string, at: number }>} */
  const cut = new Map();
  /** @type {(Call | null)[]} */
  const calls = [];
  for (const raw of trace.split("\n")) {
    const [, pid = "", half = ""] = /^(\d+)\s+(.*)$/.exec(raw) ?? [];
    if (half.endsWith("<unfinished ...>")) {
      cut.set(pid, { text: half.slice(0, -"<unfinished ...>".length), at: calls.push(null) - 1 });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(half)?.[1];
    const begun = resumed === undefined ? undefined : cut.get(pid);
    const text = begun === undefined ? half : begun.text + resumed;
    const [, call = "", args = "", result = ""] = /^(\w+)\((.*)\)\s+=\s+(\S+.*)$/.exec(text) ?? [];
    if (call !== "") calls[begun?.at ?? calls.length] = { pid, call, args, result, text };
  }
  return calls.filter((call) => call !== null);
}

/** Which command each process belongs to. @param {readonly Call[]} calls @returns {Map<string, number>} */
function findCommandOfProcess(calls) {
  const lines = new Map();
  for (const { pid, call, args, result } of calls) {
    const child = readChild(call, result);
    if (child !== null && lines.has(pid)) lines.set(child, lines.get(pid));
    const number = call === "execve" ? /"burin-line-(\d+)"/.exec(args)?.[1] : undefined;
    if (number !== undefined) lines.set(pid, Number(number));
  }
  return lines;
}

/** @param {string} call @param {string} result */
function readChild(call, result) {
  return /^(?:clone3?|fork|vfork)$/.test(call) ? (/^\d+/.exec(result)?.[0] ?? null) : null;
}

/** @param {{ call: string, args: string, result: string, root: string, base: string, folder: string }} given */
function findFault({ call, args, result, root, base, folder }) {
  const failed = result.startsWith("-1");
  if (call === "connect") return LOCAL_NAMES.test(args) ? null : "it connects";
  if (call === "execve") return failed ? null : findExecFault(args, { base, folder });
  if (CHANGES.has(call)) return failed || isScratch(args, base) ? null : "it changes a file";
  return /^open(?:at2?)?$/.test(call) ? findOpenFault({ args, result, root, base, folder }) : null;
}

/** @param {{ args: string, result: string, root: string, base: string, folder: string }} given */
function findOpenFault({ args, result, root, base, folder }) {
  const path = resolve(folder, /"([^"]*)"/.exec(args)?.[1] ?? "");
  // `-y` tells where the opened file really is.
  const real = /^\d+<([^>]*)>/.exec(result)?.[1] ?? path;
  if (WRITES.test(args) && !WRITABLE.test(real) && !WRITABLE.test(path)) {
    return isScratch(real, base) ? null : "it opens a file for writing";
  }
  const isKnown = [root, `${base}/programs`, `${base}/home`].some((each) =>
    `${real}/`.startsWith(`${each}/`),
  );
  const isHarmless =
    isKnown || SYSTEM.test(real) || /^(?:pipe|socket|anon_inode):/.test(real) || isAbove(real, root);
  return result.startsWith("-1") || isHarmless ? null : `it opens ${real}`;
}

/** Only programs of the system and those beside the project; what a line names is judged, not what the project brings. */
function findExecFault(
  /** @type {string} */ args,
  /** @type {{ base: string, folder: string }} */ { base, folder },
) {
  const program = resolve(folder, /^"([^"]*)"/.exec(args)?.[1] ?? "");
  const isOutside = /^\/(?:usr\/)?(?:bin|lib)\//.test(program) || program.startsWith(`${base}/programs/`);
  const isDangerous = /^(?:touch|rm|mv|cp|tee|python3?|perl|node|curl|wget|nc|ssh)$/.test(basename(program));
  return isOutside && !isDangerous ? null : `it starts ${program}`;
}

/** `tac` and `sort` copy their input to files of their own in the folder for those, and read them back. */
function isScratch(/** @type {string} */ text, /** @type {string} */ base) {
  return text.includes(`${base}/tmp/tac`) || text.includes(`${base}/tmp/sort`);
}

/** Folders above the root are looked up by git and ripgrep on their way to settings that are not there. */
function isAbove(/** @type {string} */ path, /** @type {string} */ root) {
  for (let at = dirname(root); at !== "/"; at = dirname(at)) if (at === path) return true;
  return path === "/";
}
