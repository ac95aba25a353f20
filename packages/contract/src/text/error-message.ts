import { withFallback } from "../with-fallback.ts";

/** Matches the message of a Node system error, such as `EACCES: permission denied, open '/a/b'`. */
const OF_SYSTEM = /^(E[A-Z0-9]{2,}): ([^,]+), \w+(?: '.*')?$/s;
/** Matches the message of a failed start, such as `spawn sh ENOENT`. A synchronous failure names no program. */
const OF_SPAWN = /^spawn(?:Sync)? (?:(.+) )?(E[A-Z0-9]+)$/s;
const NOT_STARTED: Readonly<Record<string, string>> = {
  ENOENT: "there is no program {}, or no folder to run it in",
  EACCES: "{} may not be run; check its permissions",
  EAGAIN: "too many processes run to start {}; see ulimit -u",
  EINVAL: "too many files are open to start {}, or one is above the limit; see ulimit -n",
  EMFILE: "too many files are open to start {}; see ulimit -n",
};

/** Describes a thrown value of any kind. Leaves out the file path, because callers name the file themselves. */
export function describeError(error: unknown): string {
  return withFallback("an error without a readable message", () =>
    String(error instanceof Error ? error.message : error)
      .replace(OF_SYSTEM, "$2 ($1)")
      .replace(OF_SPAWN, (_all, program, code) =>
        `${NOT_STARTED[code] ?? "{} could not be started"} (${code})`.replace("{}", () =>
          program ? `"${program}"` : "it",
        ),
      ),
  );
}
