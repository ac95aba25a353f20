import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { constants } from "node:os";
import { withFallback } from "@burin/contract/with-fallback";
import { tryReadLink } from "@burin/files/disk/disk-looks";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The session's id; 0 where the system does not report it. */
  readonly session: number;
  /** The start time in the system's own format; together with the pid it identifies one process for good. */
  readonly started: string;
  readonly name: string;
  /** true if no thread of the process runs any more. A process whose first thread has ended may still run. */
  readonly isZombie: boolean;
  /** The pid by which the session's commands know it, if it is in their shared pid namespace. */
  readonly inside?: number;
}

export function listProcesses(): readonly ProcessEntry[] {
  if (process.platform === "win32") return [];
  if (process.platform === "linux") return readProcesses("/proc");
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const words = ["-axo", "pid=,ppid=,pgid=,stat=,lstart=,comm="];
  const listed = spawnSync("/bin/ps", words, { encoding: "utf8", env: { LC_ALL: "C" } });
  return parsePs(listed.stdout ?? "");
}

/** Returns the entry of a process; null when it does not exist any more. */
export function findProcess(pid: number): ProcessEntry | null {
  if (process.platform !== "linux") return listProcesses().find((entry) => entry.pid === pid) ?? null;
  return readProcess(`/proc/${pid}`);
}

/** Lists the processes of another /proc on this system, with their pids there; null when it cannot be read. */
export function listProcessesBelow(folder: string): readonly ProcessEntry[] | null {
  return withFallback(null, () => readProcesses(folder));
}

/** Returns one process of another /proc; null when it does not exist any more. */
export function findProcessBelow(folder: string, pid: number): ProcessEntry | null {
  return readProcess(`${folder}/${pid}`);
}

/** SIGKILL among the signals that a process or a thread of it has yet to take. */
const KILL_PENDING = /^(?:SigPnd|ShdPnd):\s+[\da-f]*[13579bdf][\da-f]{2}$/m;

/** Whether the process was killed but has not ended yet. */
export function isBeingKilled(folder: string, pid: number): boolean {
  return KILL_PENDING.test(tryReadText(`${folder}/${pid}/status`) ?? "");
}

function readProcesses(folder: string): readonly ProcessEntry[] {
  const pids = readdirSync(folder).filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => readProcess(`${folder}/${pid}`) ?? []);
}

function readProcess(folder: string): ProcessEntry | null {
  const stat = readProcFileHead(`${folder}/stat`);
  return stat === null ? null : parseStat(stat);
}

/** Returns the first child of a process, on Linux. */
export function findChild(pid: number): ProcessEntry | null {
  // Not every kernel has this file.
  const listed = tryReadText(`/proc/${pid}/task/${pid}/children`);
  if (listed === null) return listProcesses().find(({ parent }) => parent === pid) ?? null;
  const first = Number.parseInt(listed, 10);
  return Number.isNaN(first) ? null : findProcess(first);
}

/** Returns the kernel's table of the sockets in the network of a process. */
export function readSocketTable(pid: number, kind: string): string {
  return tryReadText(`/proc/${pid}/net/${kind}`) ?? "";
}

/** Returns the ids that this process knows, as the identity map of a user namespace. */
export function readIdMap(kind: "uid" | "gid"): string {
  const lines = (tryReadText(`/proc/self/${kind}_map`) ?? "").trim().split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/))
    .map(([inside, , count]) => `${inside} ${inside} ${count}`)
    .join("\n");
}

/** Returns the id that a process has in its own namespace, on Linux. */
export function readInnerPid(pid: number): number | null {
  const ids = /^NSpid:\s*(.*)$/m.exec(tryReadText(`/proc/${pid}/status`) ?? "")?.[1];
  return ids === undefined ? null : Number(ids.trim().split(/\s+/).at(-1));
}

/** The name is in parentheses and may itself contain some; the fields come after the last one. */
function parseStat(stat: string): ProcessEntry {
  const nameEnd = stat.lastIndexOf(")");
  const fields = stat.slice(nameEnd + 2).split(" ");
  const parseField = (index: number) => Number(fields[index]);
  return {
    pid: Number.parseInt(stat, 10),
    name: stat.slice(stat.indexOf("(") + 1, nameEnd),
    isZombie: (fields[0] === "Z" || fields[0] === "X") && parseField(17) < 2,
    parent: parseField(1),
    group: parseField(2),
    session: parseField(3),
    started: fields[19] ?? "",
  };
}

/** Parses the output of `ps -axo pid=,ppid=,pgid=,stat=,lstart=,comm=` where there is no `/proc`. */
export function parsePs(text: string): ProcessEntry[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;
  return text.split("\n").flatMap((row) => {
    const found = line.exec(row);
    if (found === null) return [];
    const [, pid, parent, group, state = "", started = "", name = ""] = found;
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        started: started.replace(/\s+/g, " "),
        name: name.split("/").at(-1) ?? name,
        isZombie: state.startsWith("Z"),
      },
    ];
  });
}

/** Returns the value of a variable with which a process was started; null when it has none or may not be read. */
export function readStartVariable(pid: number, variable: string): string | null {
  const environment = `\0${tryReadText(`/proc/${pid}/environ`, "latin1") ?? ""}`;
  const at = environment.indexOf(`\0${variable}=`);
  if (at === -1) return null;
  return environment.slice(at + variable.length + 2).split("\0", 1)[0] ?? null;
}

/** Returns the command line of a process, for people; its name if that cannot be read. */
export function readCommandLine({ pid, name }: ProcessEntry): string {
  return tryReadText(`/proc/${pid}/cmdline`)?.split("\0").filter(Boolean).join(" ") || name;
}

/** Returns the last pid that was used on this machine; null where the system does not report it. */
export function readLastPid(): number | null {
  const last = Number(tryReadText("/proc/loadavg")?.trim().split(" ").at(-1) ?? Number.NaN);
  return Number.isInteger(last) ? last : null;
}

export function findSignalName(number: number): NodeJS.Signals | undefined {
  const signals = Object.entries(constants.signals) as [NodeJS.Signals, number][];
  return signals.find(([, each]) => each === number)?.[0];
}

/** Identifies the boot and the pid namespace, without which a process id means nothing. */
export function identifySystem(): { readonly boot: string; readonly space: string } {
  const boot = tryReadText("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return { boot, space: tryReadLink("/proc/self/ns/pid") ?? "" };
}

/** A process as a ledger on disk describes it. */
export interface NotedProcess extends ReturnType<typeof identifySystem> {
  readonly pid: number;
  readonly started: string;
}

/** Whether the process may still run: nobody can look into another pid namespace. */
export function mayBeRunning({ pid, started, boot, space }: NotedProcess): boolean {
  const here = identifySystem();
  if (boot !== here.boot) return false;
  if (space !== here.space) return true;
  const found = findProcess(pid);
  return found?.started === started && !found.isZombie;
}

const FIRST_BYTES = 2048;

/** Reads the beginning of a file in /proc. Node would take 64 KB for a whole one, and each command reads dozens. */
export function readProcFileHead(path: string): string | null {
  return withFallback(null, () => {
    const descriptor = openSync(path, "r");
    try {
      const bytes = Buffer.allocUnsafe(FIRST_BYTES);
      return bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, FIRST_BYTES, 0));
    } finally {
      closeSync(descriptor);
    }
  });
}

function tryReadText(path: string, encoding: "latin1" | "utf8" = "utf8"): string | null {
  return withFallback(null, () => readFileSync(path, encoding));
}
