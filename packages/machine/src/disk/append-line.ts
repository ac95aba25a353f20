import { appendFileSync, rmSync, statSync, truncateSync } from "node:fs";

/** All of it or nothing: after a part, as a full disk leaves it, the next line could not be read either. */
export function appendLine(path: string, value: object | string): void {
  const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  try {
    appendFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  } catch (error) {
    if (before === 0) rmSync(path, { force: true });
    else truncateSync(path, before);
    throw error;
  }
}
