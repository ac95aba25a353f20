import { protectedFile } from "@burin/shell-judge";

/** A file system's time stamps have steps: a new file may seem older by one step. */
export const TIME_STEP_MS = 20;

/** When Burin wrote a file with the user's permission, by its real path. */
const files = new Map<string, number>();

/** The times during which a call waited for a command without limits. */
const spans: { readonly from: number; to: number }[] = [];

/** Call just before Burin writes a file: one that commands may not create then does not count as theirs. */
export function vouchFor(path: string): void {
  files.set(path, Date.now());
}

/** The checks that take back what was not allowed. */
const looks = new Set<() => void>();

/** Called before a permission begins, so that nothing created earlier counts as allowed; until the result is called. */
export function beforeVouching(look: () => void): () => void {
  looks.add(look);
  return () => looks.delete(look);
}

/** What is created from now on is allowed, until the returned function is called. */
export function vouchForAll(): () => void {
  for (const look of looks) look();
  const span = { from: Date.now() - TIME_STEP_MS, to: Number.POSITIVE_INFINITY };
  spans.push(span);
  return () => {
    span.to = Math.min(span.to, Date.now() + 1);
  };
}

/** Whether the user allowed it or something in it: written by Burin since then, or by an allowed command. */
export function isVouchedFor(path: string, since: number, changed: number): boolean {
  if (spans.some(({ from, to }) => from <= changed && changed <= to)) return true;
  const isAbout = (file: string) => file === path || file.startsWith(`${path}/`);
  return [...files].some(([file, at]) => at >= since && isAbout(file) && protectedFile(file) !== null);
}
