/** Shared by sessions: what has worked once on this machine works in every mode and for all of them. */
const workingProbes = new Set<string>();

/** Whether this was tried with success; a failure is tried again. */
export async function checkOnMachine(what: string, attempt: () => Promise<boolean>): Promise<boolean> {
  if (!workingProbes.has(what) && (await attempt())) workingProbes.add(what);
  return workingProbes.has(what);
}
