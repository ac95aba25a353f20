/** How Node's loader compiles a module; not in its types. */
interface Loader {
  _compile(this: NodeJS.Module, source: string, file: string): unknown;
}

/** The text of a module as a function of exports, require, module, file name and folder name. */
type Wrapped = (...given: readonly unknown[]) => unknown;

/** The build's names for chunks, which contain a hash of the content. */
const CHUNK = /^[\w-]+-[\w-]{8}\.cjs$/;
const KEPT = /^(.+\.cjs)(?:\..+)?\.bin$/;

/**
 * Caches V8's compiled code of the chunks under `~/.burin/cache`, so that the next start need not compile them
 * again, which is a tenth of its time and most of that of the first tool call. V8 itself refuses code of other V8
 * versions, but accepts that of another patch release of Node, and then runs wrongly. Without a `~/.burin` nothing
 * is cached, and a failure costs only time.
 */
export function keepCompiledCode(): void {
  const { existsSync } = process.getBuiltinModule("node:fs");
  const { isAbsolute, join } = process.getBuiltinModule("node:path");
  const home = process.env.BURIN_HOME || join(process.getBuiltinModule("node:os").homedir(), ".burin");
  // With an empty HOME that would be a folder of the project, whose files must never run as Burin itself.
  if (!isAbsolute(home) || !existsSync(home)) return;
  const folder = join(home, "cache");
  const module = process.getBuiltinModule("node:module") as typeof import("node:module") & {
    readonly enableCompileCache?: (folder: string) => unknown;
  };
  if (module.enableCompileCache) module.enableCompileCache(folder);
  else keepChunks(module, folder);
}

/** By hand, for Node versions without a compile cache. A chunk that cannot be loaded is compiled as usual. */
function keepChunks(module: typeof import("node:module"), folder: string): void {
  const loader = module.Module.prototype as unknown as Loader;
  const { basename, dirname, join } = process.getBuiltinModule("node:path");
  const compile = loader._compile;
  const chunks = join(__dirname, "chunks");
  // At the exit, to include the functions that V8 compiles when they are first called.
  const fresh: (() => void)[] = [];
  process.once("exit", () => {
    for (const keepOne of fresh) keepOne();
  });
  loader._compile = function (source, file) {
    const isOurs = dirname(file) === chunks && CHUNK.test(basename(file));
    // A script from V8's cache cannot import what is not bundled.
    if (!isOurs || source.includes("import(")) return compile.call(this, source, file);
    let wrapped: Wrapped;
    try {
      const kept = join(folder, `${basename(file)}.${process.version}-${process.arch}.bin`);
      const script = compiled(module.wrap(source), file, kept);
      if (script.cachedDataRejected !== false)
        fresh.push(() => keep(script.createCachedData(), kept, chunks));
      wrapped = script.runInThisContext() as Wrapped;
    } catch {
      return compile.call(this, source, file);
    }
    return wrapped.call(this.exports, this.exports, module.createRequire(file), this, file, chunks);
  };
}

function compiled(source: string, filename: string, kept: string): import("node:vm").Script {
  const { Script } = process.getBuiltinModule("node:vm");
  const cachedData = bytesOf(kept);
  return new Script(source, { filename, ...(cachedData && { cachedData }) });
}

/** V8 does not verify the bytes, so the file contains them twice: comparing is cheaper than a checksum. */
function bytesOf(file: string): Buffer | undefined {
  try {
    const { readFileSync, statSync } = process.getBuiltinModule("node:fs");
    // A pipe or a device in its place would block every start.
    if (!statSync(file).isFile()) return undefined;
    const twice = readFileSync(file);
    const code = twice.subarray(0, twice.length / 2);
    return code.equals(twice.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Atomic, so that a parallel start finds all of it or nothing; removes files of older versions. */
function keep(code: Buffer, file: string, chunks: string): void {
  const fs = process.getBuiltinModule("node:fs");
  const { dirname, join } = process.getBuiltinModule("node:path");
  const folder = dirname(file);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const isOld = (name: string) => {
      const [, chunk] = KEPT.exec(name) ?? [];
      return chunk !== undefined && !fs.existsSync(join(chunks, chunk));
    };
    const old = fs.readdirSync(folder).filter(isOld);
    const temporary = file.replace(/bin$/, `${process.pid}.bin`);
    // Flushed before the rename: V8 would crash on an incomplete file.
    try {
      fs.writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600, flush: true });
      fs.renameSync(temporary, file);
    } finally {
      // On a full disk, parts that stay would take each room that is made.
      fs.rmSync(temporary, { force: true });
    }
    for (const name of old) fs.rmSync(join(folder, name), { force: true });
  } catch {
    // The next start compiles again.
  }
}
