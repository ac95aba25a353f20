import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf, lstatOf, realOf } from "../disk/disk-looks.ts";
import { isFolder, makeFolders } from "../disk/make-folders.ts";
import { asWorkspaceError } from "../disk/system-error.ts";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import type { Sandbox, SandboxedCommand, SandboxLimits } from "./sandbox.ts";
import { type Guard, guardian, UNGUARDED } from "./sandbox-guard.ts";
import { protectedLayout } from "./sandbox-survey.ts";

/** The sockets of the whole machine. */
const MOST_TABLE_BYTES = 64 * 1024 * 1024;

/** Folders with sockets and other ways to reach programs outside; the second is a link to the first on most systems. */
const HIDDEN = ["/run", "/var/run"].filter((path) => lstatOf(path)?.isDirectory());

/** Paths that have other content inside the sandbox than outside. */
const COVERED = [...HIDDEN, "/tmp", "/var/tmp", "/dev", "/proc"];

/** The parts of them that programs need. */
const SHOWN_AGAIN = ["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

/** The capabilities that a root user's command keeps, so that it can work on files of other users inside the roots. */
const KEPT_RIGHTS = "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE".split(" ");

/** Caches in the home folder are read-only; these programs fail without a writable one. */
const CACHES = {
  npm_config_cache: "/tmp/.cache/npm",
  PIP_CACHE_DIR: "/tmp/.cache/pip",
  GOCACHE: "/tmp/.cache/go-build",
};

/**
 * Runs next to the command: reports its exit code and the number of processes. If there are more than the keeper
 * and the first one, it waits until they are ended from outside. Its end ends everything in the sandbox.
 */
const KEEPER = `exec 4>&2 2>/dev/null; trap : TERM INT HUP; (exec "$@" 2>&4 3>&- 4>&-); code=$?; trap '' TERM INT HUP; set -- /proc/[0-9]*; echo "$code $#" >&3; [ $# -le 2 ] || read -r end <&3; exit $code`;

/** Bubblewrap reads the system call filter from a descriptor, which this opens. */
const WITH_FILTER = 'exec 9<"$0" && exec "$@"';

/** Bubblewrap: a read-only system, the roots writable except for what runs code later, its own process space. */
export function linuxSandbox(
  program: string,
  limits: SandboxLimits,
  isRoot = process.getuid?.() === 0,
): Sandbox & { probe(): string[] } {
  const { mode, temporary } = limits;
  const begin = mode === "workspace-write" ? guardian(limits) : () => UNGUARDED;
  return {
    mode,
    /** Arguments that show whether bubblewrap works on this system. */
    probe: () => [...spaces(false, isRoot), ...system(isRoot, []), "--", "true"],
    async plan(command) {
      makeFolders(join(temporary, "tmp"));
      const hidden = hiddenHome(limits.home);
      const filter = filterFile(temporary, command.network);
      // Last of what a full disk can refuse: nobody would end a guard without a command.
      const guard = begin();
      const args = [
        ...spaces(command.network || command.within !== undefined, isRoot),
        // Its own session keeps a command from typing into the user's terminal; a command with its own terminal has
        // another session anyway.
        ...(command.hasTerminal ? [] : ["--new-session"]),
        ...places(command, limits, {
          ...guard,
          isRoot,
          hidden,
          hasFilter: filter !== null && !command.network,
        }),
        ...(filter === null ? [] : ["--seccomp", "9"]),
        ...["--chdir", command.cwd, "--"],
        ...(command.isAlone ? [] : ["/bin/sh", "-c", KEEPER, "sh"]),
        ...command.argv,
      ];
      const [first = program, ...rest] = [...(command.within ?? []), program, ...args];
      return {
        program: filter === null ? first : "/bin/sh",
        args: filter === null ? rest : ["-c", WITH_FILTER, filter, first, ...rest],
        env: { TMPDIR: "/tmp", ...CACHES },
        hasControl: command.isAlone !== true,
        ...guard,
      };
    },
  };
}

interface Around extends Pick<Guard, "before"> {
  readonly isRoot: boolean;
  readonly hidden: readonly string[];
  /** No socket of a program outside can be reached. */
  readonly hasFilter: boolean;
}

/** What the command sees of the disk, and what of it it can write. */
function places(
  { network }: SandboxedCommand,
  { roots, home, hide = [], temporary, mode }: SandboxLimits,
  { before, isRoot, hidden, hasFilter }: Around,
): string[] {
  const layout = before ? protectedLayout(before, roots) : { pinned: [], readOnly: [] };
  const bind = mode === "workspace-write" ? "--bind" : "--ro-bind";
  const secret = [...new Set(hide.flatMap((folder) => realOf(folder) ?? []).filter(isFolder))];
  // What is within another one goes with it, and could not be mounted behind it.
  const away = secret.filter((one) => !secret.some((other) => other !== one && isWithin(one, other)));
  const covered = [...COVERED, ...away];
  // A root that contains one of them would show the real content if it was mounted after them.
  const inner = roots.filter((root) => isWithinAny(root, covered));
  const outer = roots.filter((root) => !inner.includes(root));
  const privateTemporary = join(temporary, "tmp");
  const sockets = hasFilter ? [] : listeningSockets([...covered, ...roots, home]);
  return [
    ...system(isRoot, alike(bind, outer)),
    ...["/tmp", "/var/tmp"].flatMap((folder) => ["--bind", privateTemporary, folder]),
    ...away.flatMap((folder) => ["--tmpfs", folder]),
    ...alike(bind, inner),
    // Another program may remove one of them at this moment.
    ...alike("--bind-try", layout.pinned),
    ...alike("--ro-bind-try", layout.readOnly),
    ...sockets.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...alike("--ro-bind", network ? nameServers() : []),
    ...hidden,
    ...away.flatMap((folder) => ["--remount-ro", folder]),
  ];
}

function spaces(keepsNetwork: boolean, isRoot: boolean): string[] {
  const rights = isRoot ? KEPT_RIGHTS.flatMap((right) => ["--cap-add", `CAP_${right}`]) : [];
  return [
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--cap-drop", "ALL", ...rights],
    ...(keepsNetwork ? [] : ["--unshare-net"]),
  ];
}

function system(isRoot: boolean, outerRoots: readonly string[]): string[] {
  return [
    ...["--ro-bind", "/", "/", ...outerRoots, "--dev", "/dev", "--proc", "/proc"],
    // As root, the kernel's switches would be writable there; other users need it unchanged to create namespaces.
    ...(isRoot ? ["--remount-ro", "/proc"] : []),
    ...HIDDEN.flatMap((folder) => ["--tmpfs", folder]),
    ...alike("--ro-bind-try", SHOWN_AGAIN),
  ];
}

function alike(option: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => [option, path, path]);
}

/** In Burin's home only long outputs are shown. A home that cannot be created has nothing to hide. */
function hiddenHome(home: string): string[] {
  const output = join(home, "output");
  try {
    makeFolders(output);
    return ["--tmpfs", home, "--ro-bind", output, output, "--remount-ro", home];
  } catch {
    return isFolder(home) ? ["--tmpfs", home, "--remount-ro", home] : [];
  }
}

/** A read-only mount does not keep a command from connecting to programs outside, some of which run what they get. */
function listeningSockets(covered: readonly string[]): string[] {
  const table = bytesOf("/proc/net/unix", MOST_TABLE_BYTES)?.toString() ?? "";
  const paths = new Set(table.split("\n").map((line) => line.slice(line.indexOf(" /") + 1)));
  return [...paths].filter(
    (path) => path.startsWith("/") && !isWithinAny(path, covered) && lstatOf(path)?.isSocket() === true,
  );
}

/** The real path of resolv.conf if it is in a hidden folder. */
function nameServers(): string[] {
  const real = realOf("/etc/resolv.conf");
  return real !== null && isWithinAny(real, HIDDEN) ? [real] : [];
}

/**
 * A system call filter. No command reaches the keys that the kernel keeps for the user, which no namespace hides.
 * One without network can create sockets in its own network namespace and connected pairs, and no others. A Unix
 * socket of a program outside has a path, and neither a read-only mount nor a network namespace prevents a connection
 * to it. Only refusing the system call also covers sockets that are created later.
 */

const [LOAD, EQUAL, AT_LEAST, AND, RETURN] = [0x20, 0x15, 0x35, 0x54, 0x06];
const [ALLOW, REFUSE] = [0x7fff0000, 0x00050000 | 1];
const [NUMBER, ARCHITECTURE, FIRST, SECOND] = [0, 4, 16, 24];

const [LOOPBACK_FAMILIES, PAIR_TYPES] = [
  [2, 10, 16], // INET, INET6, NETLINK
  [1, 5], // STREAM, SEQPACKET: a DGRAM one of a pair could still be connected to another
] as const;
const [TYPE_BITS, TIOCSTI, URING_SETUP] = [0xf, 0x5412, 425];

interface Calls {
  readonly architecture: number;
  /** add_key, request_key and keyctl. */
  readonly keys: readonly number[];
  /** The same for 32-bit programs on the same system, and how they request sockets: they get none. */
  readonly narrow: Pick<Calls, "architecture" | "keys"> & { readonly sockets: readonly number[] };
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  /** Higher numbers belong to another system call interface of the same machine. */
  readonly others?: number;
}

const CALLS: Readonly<Record<string, Calls>> = {
  x64: {
    architecture: 0xc000003e,
    keys: [248, 249, 250],
    narrow: { architecture: 0x40000003, keys: [286, 287, 288], sockets: [102, 359, 360, URING_SETUP] },
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    others: 0x40000000,
  },
  arm64: {
    architecture: 0xc00000b7,
    keys: [217, 218, 219],
    narrow: { architecture: 0x40000028, keys: [309, 310, 311], sockets: [281, 288, URING_SETUP] },
    socket: 198,
    socketpair: 199,
    ioctl: 29,
  },
};

type Step = readonly [code: number, yes: number, no: number, value: number];

/** null for an architecture whose call numbers are not known. */
function callFilter(architecture: string, network: boolean): Buffer | null {
  const calls = CALLS[architecture];
  if (calls === undefined) return null;
  const { narrow } = calls;
  const steps: Step[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    ...unless(
      [EQUAL, narrow.architecture],
      [[LOAD, 0, 0, NUMBER], ...answers([...narrow.keys, ...(network ? [] : narrow.sockets)], REFUSE, ALLOW)],
    ),
    [EQUAL, 1, 0, calls.architecture],
    [RETURN, 0, 0, REFUSE],
    [LOAD, 0, 0, NUMBER],
    ...(calls.others === undefined ? [] : unless([AT_LEAST, calls.others], [[RETURN, 0, 0, REFUSE]])),
    ...calls.keys.flatMap((key) => unless([EQUAL, key], [[RETURN, 0, 0, REFUSE]])),
    ...(network ? [] : onlyOwnSockets(calls)),
    ...unless([EQUAL, calls.ioctl], [[LOAD, 0, 0, SECOND], ...answers([TIOCSTI], REFUSE, ALLOW)]),
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(steps.length * 8);
  steps.forEach(([code, yes, no, value], index) => {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(yes, index * 8 + 2);
    program.writeUInt8(no, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  });
  return program;
}

function onlyOwnSockets({ socket, socketpair }: Calls): Step[] {
  return [
    ...unless([EQUAL, URING_SETUP], [[RETURN, 0, 0, REFUSE]]),
    ...unless([EQUAL, socket], [[LOAD, 0, 0, FIRST], ...answers(LOOPBACK_FAMILIES, ALLOW, REFUSE)]),
    ...unless(
      [EQUAL, socketpair],
      [[LOAD, 0, 0, SECOND], [AND, 0, 0, TYPE_BITS], ...answers(PAIR_TYPES, ALLOW, REFUSE)],
    ),
  ];
}

/** Runs the steps if the test holds; otherwise continues after them. */
function unless([code, value]: readonly [number, number], steps: readonly Step[]): Step[] {
  return [[code, 0, steps.length, value], ...steps];
}

/** What becomes of a call with one of the values, and of any other. */
function answers(values: readonly number[], found: number, other: number): Step[] {
  return [
    ...values.map((value, index): Step => [EQUAL, values.length - index, 0, value]),
    [RETURN, 0, 0, other],
    [RETURN, 0, 0, found],
  ];
}

/** The file that bubblewrap reads the filter from; null if there is none. */
function filterFile(folder: string, network: boolean): string | null {
  const file = join(folder, network ? "calls-network" : "calls");
  if (existsSync(file)) return file;
  const program = callFilter(process.arch, network);
  if (program === null) return null;
  try {
    writeFileSync(file, program, { mode: 0o600 });
  } catch (error) {
    // A part of it would be taken for the whole by the next command.
    rmSync(file, { force: true });
    throw asWorkspaceError(error, file);
  }
  return file;
}
