import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toWorkspaceError } from "@burin/files/disk/system-error";

/**
 * A system call filter (seccomp). No command can use the kernel's keyrings, which no namespace hides. None can create a
 * setuid or setgid file, which would run with its owner's rights when another user starts it. Without network, a
 * command can create sockets only in its own network namespace, and connected pairs. A Unix socket of a program outside
 * has a path, and neither a read-only mount nor a network namespace prevents a connection to it; only refusing the
 * system call also covers sockets that are created later.
 */

const [LOAD, EQUAL, AT_LEAST, AND, RETURN] = [0x20, 0x15, 0x35, 0x54, 0x06];
const [ALLOW, REFUSE] = [0x7fff0000, 0x00050000 | 1];
const [NUMBER, ARCHITECTURE, FIRST, SECOND] = [0, 4, 16, 24];
/** The setuid and setgid bits of a file's mode. */
const OWNER_RIGHTS = 0o6000;
/** ENOSYS makes programs fall back to openat, whose mode argument can be checked here. */
const UNKNOWN_CALL = 0x00050000 | 38;

const [LOOPBACK_FAMILIES, PAIR_TYPES] = [
  [2, 10, 16], // INET, INET6, NETLINK
  [1, 5], // STREAM, SEQPACKET: a DGRAM one of a pair could still be connected to another
] as const;
const [TYPE_BITS, TIOCSTI, URING_SETUP, OPENAT2] = [0xf, 0x5412, 425, 437];

interface CallNumbers {
  readonly architecture: number;
  /** add_key, request_key and keyctl. */
  readonly keys: readonly number[];
  /** System calls that set a file's mode, grouped by the position of the mode argument. */
  readonly modes: Readonly<Record<1 | 2 | 3, readonly number[]>>;
  /** The same for 32-bit programs on this system, and their socket calls, all of which are refused. */
  readonly narrow: Pick<CallNumbers, "architecture" | "keys" | "modes"> & {
    readonly sockets: readonly number[];
  };
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  /** Higher numbers belong to another system call ABI of the same machine. */
  readonly others?: number;
}

const CALLS: Readonly<Record<string, CallNumbers>> = {
  x64: {
    architecture: 0xc000003e,
    keys: [248, 249, 250],
    // chmod, fchmod, creat, mkdir, mknod; open, fchmodat, mkdirat, mknodat, fchmodat2; openat.
    modes: { 1: [90, 91, 85, 83, 133], 2: [2, 268, 258, 259, 452], 3: [257] },
    narrow: {
      architecture: 0x40000003,
      keys: [286, 287, 288],
      modes: { 1: [15, 94, 8, 39, 14], 2: [5, 306, 296, 297, 452], 3: [295] },
      sockets: [102, 359, 360],
    },
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    others: 0x40000000,
  },
  arm64: {
    architecture: 0xc00000b7,
    keys: [217, 218, 219],
    modes: { 1: [52], 2: [53, 34, 33, 452], 3: [56] },
    narrow: {
      architecture: 0x40000028,
      keys: [309, 310, 311],
      modes: { 1: [15, 94, 8, 39, 14], 2: [5, 333, 323, 324, 452], 3: [322] },
      sockets: [281, 288],
    },
    socket: 198,
    socketpair: 199,
    ioctl: 29,
  },
};

type FilterStep = readonly [code: number, yes: number, no: number, value: number];

/** null for an architecture whose call numbers are not known. */
function buildCallFilter(architecture: string, network: boolean): Buffer | null {
  const calls = CALLS[architecture];
  if (calls === undefined) return null;
  const { narrow } = calls;
  const steps: FilterStep[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    ...runIf(
      [EQUAL, narrow.architecture],
      [
        [LOAD, 0, 0, NUMBER],
        ...refuseOwnerRights(narrow),
        ...buildAnswers([...narrow.keys, ...(network ? [] : narrow.sockets)], REFUSE, ALLOW),
      ],
    ),
    [EQUAL, 1, 0, calls.architecture],
    [RETURN, 0, 0, REFUSE],
    [LOAD, 0, 0, NUMBER],
    ...(calls.others === undefined ? [] : runIf([AT_LEAST, calls.others], [[RETURN, 0, 0, REFUSE]])),
    ...calls.keys.flatMap((key) => runIf([EQUAL, key], [[RETURN, 0, 0, REFUSE]])),
    ...refuseOwnerRights(calls),
    ...(network ? [] : restrictSockets(calls)),
    ...runIf([EQUAL, calls.ioctl], [[LOAD, 0, 0, SECOND], ...buildAnswers([TIOCSTI], REFUSE, ALLOW)]),
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

/** Refuses a mode with these bits. Requests through io_uring or a struct in memory cannot be inspected. */
function refuseOwnerRights({ modes }: Pick<CallNumbers, "modes">): FilterStep[] {
  const each = ([1, 2, 3] as const).flatMap((at) => modes[at].map((call) => [call, FIRST + 8 * at] as const));
  return [
    ...runIf([EQUAL, URING_SETUP], [[RETURN, 0, 0, REFUSE]]),
    ...runIf([EQUAL, OPENAT2], [[RETURN, 0, 0, UNKNOWN_CALL]]),
    ...each.flatMap(([call, argument]) =>
      runIf(
        [EQUAL, call],
        [
          [LOAD, 0, 0, argument],
          [AND, 0, 0, OWNER_RIGHTS],
          [EQUAL, 0, 1, 0],
          [RETURN, 0, 0, ALLOW],
          [RETURN, 0, 0, REFUSE],
        ],
      ),
    ),
  ];
}

function restrictSockets({ socket, socketpair }: CallNumbers): FilterStep[] {
  return [
    ...runIf([EQUAL, socket], [[LOAD, 0, 0, FIRST], ...buildAnswers(LOOPBACK_FAMILIES, ALLOW, REFUSE)]),
    ...runIf(
      [EQUAL, socketpair],
      [[LOAD, 0, 0, SECOND], [AND, 0, 0, TYPE_BITS], ...buildAnswers(PAIR_TYPES, ALLOW, REFUSE)],
    ),
  ];
}

/** Runs the steps if the test holds; otherwise continues after them. */
function runIf([code, value]: readonly [number, number], steps: readonly FilterStep[]): FilterStep[] {
  return [[code, 0, steps.length, value], ...steps];
}

/** Answers a call with one of these values one way, and any other call another way. */
function buildAnswers(values: readonly number[], found: number, other: number): FilterStep[] {
  return [
    ...values.map((value, index): FilterStep => [EQUAL, values.length - index, 0, value]),
    [RETURN, 0, 0, other],
    [RETURN, 0, 0, found],
  ];
}

/** The file that bubblewrap reads the filter from; null if there is none. */
export function writeFilterFile(folder: string, network: boolean): string | null {
  const file = join(folder, network ? "calls-network" : "calls");
  if (existsSync(file)) return file;
  const program = buildCallFilter(process.arch, network);
  if (program === null) return null;
  try {
    writeFileSync(file, program, { mode: 0o600 });
  } catch (error) {
    // The next command would take a partly written file for the whole filter.
    rmSync(file, { force: true });
    throw toWorkspaceError(error, file);
  }
  return file;
}
