declare const BURIN_VERSION: string;

// The version is printed before anything else is loaded: scripts and editors ask for it often.
if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-v")) {
  process.stdout.on("error", reportUnwritable).write(`${BURIN_VERSION}\n`);
} else {
  // Without a listener Node opens its debugger, by which every program of the user could run code here.
  process.on("SIGUSR1", () => {});
  assertHome();
  enableCompileCache();
  void import("./start.ts").then(({ start }) => start(process.argv.slice(2)), reportStartFailure);
}

/** For a user without HOME that the system does not know, as in some containers, Node throws; there `/` is usual. */
function assertHome(): void {
  try {
    process.getBuiltinModule("node:os").homedir();
  } catch {
    process.env.HOME = "/";
  }
}

/**
 * Lets Node keep the code that V8 compiles under `~/.burin/cache`, so that the next start need not compile it again.
 * Node has this since version 22; before, every start compiles. Without a `~/.burin` nothing is kept.
 */
function enableCompileCache(): void {
  const module = process.getBuiltinModule("node:module") as typeof import("node:module") & {
    readonly enableCompileCache?: (folder: string) => unknown;
  };
  if (module.enableCompileCache === undefined) return;
  const { existsSync } = process.getBuiltinModule("node:fs");
  const { isAbsolute, join } = process.getBuiltinModule("node:path");
  const home = process.env.BURIN_HOME || join(process.getBuiltinModule("node:os").homedir(), ".burin");
  // With an empty HOME that would be a folder of the project, whose files must never run as Burin itself.
  if (isAbsolute(home) && existsSync(home)) module.enableCompileCache(join(home, "cache"));
}

function reportUnwritable({ message }: Error): void {
  process.stderr.write(`burin: the output failed (${message}).\n`);
  process.exitCode = 1;
}

/** A damaged installation: what Node would print of it is a line of code as long as a file. */
function reportStartFailure(error: unknown): void {
  const why = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 300) : "";
  process.stderr.write(`burin: it cannot be loaded; reinstall it. (${why})\n`);
  process.exitCode = 1;
}
