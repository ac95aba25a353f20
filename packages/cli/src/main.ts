declare const BURIN_VERSION: string;

// Print the version before anything else is loaded: scripts and editors ask for it often.
if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-v")) {
  process.stdout.on("error", reportUnwritable).write(`${BURIN_VERSION}\n`);
} else {
  // Without a listener, this signal makes Node open its debugger, through which any of the user's programs could run
  // code here.
  process.on("SIGUSR1", () => {});
  ensureHome();
  enableCompileCache();
  void import("./start.ts").then(({ start }) => start(process.argv.slice(2)), reportStartFailure);
}

/** Sets HOME to `/` for a user without HOME that the system does not know, as in some containers: Node would throw. */
function ensureHome(): void {
  try {
    process.getBuiltinModule("node:os").homedir();
  } catch {
    process.env.HOME = "/";
  }
}

/**
 * Lets Node cache the code that V8 compiles in `~/.burin/cache`, so that later starts need not compile it again.
 * Requires Node 22 or later, and does nothing if `~/.burin` does not exist.
 */
function enableCompileCache(): void {
  const module = process.getBuiltinModule("node:module") as typeof import("node:module") & {
    readonly enableCompileCache?: (folder: string) => unknown;
  };
  if (module.enableCompileCache === undefined) return;
  const { existsSync } = process.getBuiltinModule("node:fs");
  const { isAbsolute, join } = process.getBuiltinModule("node:path");
  const home = process.env.BURIN_HOME || join(process.getBuiltinModule("node:os").homedir(), ".burin");
  // With an empty HOME this would be a folder of the project, whose files must never run as Burin itself.
  if (isAbsolute(home) && existsSync(home)) module.enableCompileCache(join(home, "cache"));
}

function reportUnwritable({ message }: Error): void {
  process.stderr.write(`burin: the output failed (${message}).\n`);
  process.exitCode = 1;
}

/** Reports a damaged installation. Node's own message would print a line of code as long as the whole file. */
function reportStartFailure(error: unknown): void {
  const why = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 300) : "";
  process.stderr.write(`burin: it cannot be loaded; reinstall it. (${why})\n`);
  process.exitCode = 1;
}
