import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asWorkspaceError } from "@burin/files/disk/system-error";

/**
 * A system call filter. No command reaches the keys that the kernel keeps for the user, which no namespace hides.
 * None leaves a file that runs as its owner when another user starts it.
 * One without network can create sockets in its own network namespace and connected pairs, and no others. A Unix
 * socket of a program outside has a path, and neither a read-only mount nor a network namespace prevents a connection
 * to it. Only refusing the system call also covers sockets that are created later.
 */

const [LOAD, EQUAL, AT_LEAST, AND, RETURN] = [0x20, 0x15, 0x35, 0x54, 0x06];
const [ALLOW, REFUSE] = [0x7fff0000, 0x00050000 | 1];
const [NUMBER, ARCHITECTURE, FIRST, SECOND] = [0, 4, 16, 24];
/** The bits of a file's mode with which a program runs as the file's owner or group. */
const OWNER_RIGHTS = 0o6000;
/** ENOSYS: programs then use openat, whose mode can be seen here. */
const UNKNOWN_CALL = 0x00050000 | 38;

const [LOOPBACK_FAMILIES, PAIR_TYPES] = [
  [2, 10, 16], // INET, INET6, NETLINK
  [1, 5], // STREAM, SEQPACKET: a DGRAM one of a pair could still be connected to another
] as const;
const [TYPE_BITS, TIOCSTI, URING_SETUP, OPENAT2] = [0xf, 0x5412, 425, 437];

interface Calls {
  readonly architecture: number;
  /** add_key, request_key and keyctl. */
  readonly keys: readonly number[];
  /** Calls that set the mode of a file, by the number of the argument that has it. */
  readonly modes: Readonly<Record<1 | 2 | 3, readonly number[]>>;
  /** The same for 32-bit programs on the same system, and how they request sockets: they get none. */
  readonly narrow: Pick<Calls, "architecture" | "keys" | "modes"> & { readonly sockets: readonly number[] };
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
      [
        [LOAD, 0, 0, NUMBER],
        ...withoutOwnerRights(narrow),
        ...answers([...narrow.keys, ...(network ? [] : narrow.sockets)], REFUSE, ALLOW),
      ],
    ),
    [EQUAL, 1, 0, calls.architecture],
    [RETURN, 0, 0, REFUSE],
    [LOAD, 0, 0, NUMBER],
    ...(calls.others === undefined ? [] : unless([AT_LEAST, calls.others], [[RETURN, 0, 0, REFUSE]])),
    ...calls.keys.flatMap((key) => unless([EQUAL, key], [[RETURN, 0, 0, REFUSE]])),
    ...withoutOwnerRights(calls),
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

/** Refuses a mode with these bits. What a ring of calls or a struct in memory asks for cannot be seen. */
function withoutOwnerRights({ modes }: Pick<Calls, "modes">): Step[] {
  const each = ([1, 2, 3] as const).flatMap((at) => modes[at].map((call) => [call, FIRST + 8 * at] as const));
  return [
    ...unless([EQUAL, URING_SETUP], [[RETURN, 0, 0, REFUSE]]),
    ...unless([EQUAL, OPENAT2], [[RETURN, 0, 0, UNKNOWN_CALL]]),
    ...each.flatMap(([call, argument]) =>
      unless(
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

function onlyOwnSockets({ socket, socketpair }: Calls): Step[] {
  return [
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
export function filterFile(folder: string, network: boolean): string | null {
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
