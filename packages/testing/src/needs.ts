import { isNeededHere, PROGRAMS, type ProgramName } from "./programs.mjs";

declare module "vitest" {
  interface TaskMeta {
    /** A key for each missing program because of which a test is skipped. A group's keys hold for its tests too. */
    [waits: `waits for ${string}`]: true;
  }
}

const faults = new Map<ProgramName, string | null>();

/** Whether tests can use the program here. */
export function isAvailable(name: ProgramName): boolean {
  if (!isNeededHere(name)) return false;
  if (!faults.has(name)) faults.set(name, PROGRAMS[name].fault());
  return faults.get(name) === null;
}

/**
 * Options of a test or a group that calls these programs: where one does not work it is skipped, and counted at the
 * end of the run (`waiting-tests.ts`).
 */
export function requirePrograms(...names: ProgramName[]) {
  const lacking = names.filter((name) => !isAvailable(name));
  const waits = lacking.filter(isNeededHere).map((name) => [`waits for ${name}`, true] as const);
  return { skip: lacking.length > 0, meta: Object.fromEntries(waits) };
}

/** The rows whose command calls the same of these programs, so that each group of rows can say what it needs. */
export function groupByPrograms<Row>(
  rows: readonly Row[],
  commandOf: (row: Row) => string,
): [names: ProgramName[], rows: Row[]][] {
  const groups = new Map<string, [ProgramName[], Row[]]>();
  for (const row of rows) {
    const words = new Set(commandOf(row).split(/[^\w-]+/));
    const names = (Object.keys(PROGRAMS) as ProgramName[]).filter((name) => words.has(name));
    const key = names.join();
    const [, group] = groups.get(key) ?? [];
    if (group === undefined) groups.set(key, [names, [row]]);
    else group.push(row);
  }
  return [...groups.values()];
}
