import { protectedFile } from "@burin/shell-judge";

/** The time stamps of a file system go in steps: what was made just now may seem older by one. */
export const TIME_STEP_MS = 20;

/** When a file was written with the user's leave, by its real path. */
const files = new Map<string, number>();

interface Span {
  readonly from: number;
  to: number;
}

/** When a command without limits was waited for. */
const spans: Span[] = [];

/** To be called just before a file is written that commands may not make: it is no command's then. */
export function vouchFor(path: string): void {
  if (protectedFile(path) !== null) files.set(path, Date.now());
}

/** Looks of those who take away what nobody allowed. */
const looks = new Set<() => void>();

/** Calls it before leave begins, so that nothing made before counts as allowed; the answer ends that. */
export function beforeVouching(look: () => void): () => void {
  looks.add(look);
  return () => looks.delete(look);
}

/** What is made from now on was allowed, until the answer is called. */
export function vouchForAll(): () => void {
  for (const look of looks) look();
  const span: Span = { from: Date.now() - TIME_STEP_MS, to: Number.POSITIVE_INFINITY };
  spans.push(span);
  return () => {
    span.to = Math.min(span.to, Date.now() + 1);
  };
}

/** Whether the user allowed that, or something in that folder, to be made: as a file since then, or in what a command did. */
export function isVouchedFor(path: string, since: number, changed: number): boolean {
  if (spans.some(({ from, to }) => from <= changed && changed <= to)) return true;
  return [...files].some(([file, at]) => at >= since && (file === path || file.startsWith(`${path}/`)));
}
