import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A filter of system calls for a command without network: it can make sockets of its own network space and
 * pairs of connected ones, and no others. A socket of a program outside has a path, and neither a read-only
 * mount nor a network space of its own keeps a command from connecting to it; only what the command cannot
 * make at all holds also for those that come later.
 */

const [LOAD, EQUAL, AT_LEAST, AND, RETURN] = [0x20, 0x15, 0x35, 0x54, 0x06];
const [ALLOW, REFUSE] = [0x7fff0000, 0x00050000 | 1];
const [NUMBER, ARCHITECTURE, FIRST, SECOND] = [0, 4, 16, 24];

const [LOOPBACK_FAMILIES, PAIR_TYPES] = [
  [2, 10, 16], // INET, INET6, NETLINK
  [1, 5], // STREAM, SEQPACKET: a DGRAM one of a pair could still be connected to another
] as const;
const [TYPE_BITS, TIOCSTI] = [0xf, 0x5412];

interface Calls {
  readonly architecture: number;
  /** Programs of 32 bits on the same system, and how they call for sockets: they get none. */
  readonly narrow: { readonly architecture: number; readonly calls: readonly number[] };
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  readonly uringSetup: number;
  /** Numbers from here on belong to another way to call the same system. */
  readonly others?: number;
}

const CALLS: Readonly<Record<string, Calls>> = {
  x64: {
    architecture: 0xc000003e,
    narrow: { architecture: 0x40000003, calls: [102, 359, 360, 425] },
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    uringSetup: 425,
    others: 0x40000000,
  },
  arm64: {
    architecture: 0xc00000b7,
    narrow: { architecture: 0x40000028, calls: [281, 288, 425] },
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    uringSetup: 425,
  },
};

type Step = readonly [code: number, yes: number, no: number, value: number];

/** null where the numbers of the calls are not known. */
function socketFilter(architecture: string): Buffer | null {
  const calls = CALLS[architecture];
  if (calls === undefined) return null;
  const steps: Step[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    ...unless([EQUAL, calls.narrow.architecture], [[LOAD, 0, 0, NUMBER], ...refuseOnly(calls.narrow.calls)]),
    [EQUAL, 1, 0, calls.architecture],
    [RETURN, 0, 0, REFUSE],
    [LOAD, 0, 0, NUMBER],
    ...(calls.others === undefined ? [] : unless([AT_LEAST, calls.others], [[RETURN, 0, 0, REFUSE]])),
    ...unless([EQUAL, calls.uringSetup], [[RETURN, 0, 0, REFUSE]]),
    ...unless([EQUAL, calls.socket], [[LOAD, 0, 0, FIRST], ...allowOnly(LOOPBACK_FAMILIES)]),
    ...unless(
      [EQUAL, calls.socketpair],
      [[LOAD, 0, 0, SECOND], [AND, 0, 0, TYPE_BITS], ...allowOnly(PAIR_TYPES)],
    ),
    ...unless(
      [EQUAL, calls.ioctl],
      [
        [LOAD, 0, 0, SECOND],
        [EQUAL, 0, 1, TIOCSTI],
        [RETURN, 0, 0, REFUSE],
        [RETURN, 0, 0, ALLOW],
      ],
    ),
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

/** The steps, where the test holds; else what comes after them. */
function unless([code, value]: readonly [number, number], steps: readonly Step[]): Step[] {
  return [[code, 0, steps.length, value], ...steps];
}

function allowOnly(values: readonly number[]): Step[] {
  return [
    ...values.map((value, index): Step => [EQUAL, values.length - index, 0, value]),
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
  ];
}

function refuseOnly(values: readonly number[]): Step[] {
  return [
    ...values.map((value, index): Step => [EQUAL, values.length - index, 0, value]),
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, REFUSE],
  ];
}

/** The file that bubblewrap reads the filter from; null where there is none. */
export function filterFile(folder: string): string | null {
  const file = join(folder, "calls");
  if (existsSync(file)) return file;
  const program = socketFilter(process.arch);
  if (program === null) return null;
  writeFileSync(file, program, { mode: 0o600 });
  return file;
}
