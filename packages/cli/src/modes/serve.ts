import { buildSessionOptions, type CommonOptions, readSettings } from "../request/options.ts";
import { readPort } from "../request/read-values.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { formatNote } from "../terminal/output.ts";

declare const BURIN_VERSION: string;

/** Serves other programs: one over stdio until it disconnects, or several over HTTP until the user interrupts. */
export async function run(
  { words, options, subcommandOptions }: SubcommandRequest,
  io: Io,
): Promise<ExitCode> {
  const [face, ...rest] = words;
  const isHttp = subcommandOptions.http === true || subcommandOptions.port !== undefined;
  if (face !== "mcp" && face !== "acp")
    throw new UsageError("say what to serve: burin serve mcp, or burin serve acp. See burin help serve.");
  if (rest.length > 0) {
    const port = isHttp && /^\d+$/.test(`${rest[0]}`) ? `; a port is given as --port ${rest[0]}` : "";
    throw new UsageError(`burin serve ${face} takes no "${rest[0]}"${port}.`);
  }
  if (face === "acp" && isHttp) throw new UsageError("only burin serve mcp takes --http and --port.");
  const ground = resolveServeOptions(options, io);
  if (face === "acp") await (await import("@burin/serve/acp")).serveAcp(addModel(ground));
  else if (isHttp) await serveHttp(ground, subcommandOptions.port);
  else {
    // Open it now, so that problems with the settings are reported at once and not at the first call.
    await ground.open();
    await (await import("@burin/serve/mcp")).serveMcp(ground);
  }
  return io.signal.aborted ? EXIT.interrupted : EXIT.done;
}

async function serveHttp(
  ground: ReturnType<typeof resolveServeOptions>,
  port: SubcommandRequest["subcommandOptions"][string] = "0",
) {
  const { BURIN_SERVE_TOKEN: token } = process.env;
  // Hide it from the commands that a client runs.
  delete process.env.BURIN_SERVE_TOKEN;
  const { serveMcpOverHttp } = await import("@burin/serve/mcp-http");
  await serveMcpOverHttp(ground, { port: readPort(String(port)), ...(token ? { token } : {}) });
}

/** Adds a model to what is served. If none is configured, throws a UsageError that says what to set. */
function addModel({ open, ...ground }: ReturnType<typeof resolveServeOptions>) {
  return {
    ...ground,
    open: async (folders?: readonly string[]) => {
      const { options, settings, notices } = await open(folders);
      const { openModel, notice } = await (await import("./print/find-model.ts")).createModelOpener(settings);
      return {
        options: { ...options, openModel },
        notices: notice === null ? notices : [...notices, notice],
      };
    },
  };
}

function resolveServeOptions(options: CommonOptions, { output, signal }: Io) {
  return {
    version: BURIN_VERSION,
    root: options.root,
    isRootFixed: options.isRootNamed,
    signal,
    note: (text: string) => output.note(formatNote(text)),
    open: async ([root = options.root, ...others]: readonly string[] = []) => {
      const there = { ...options, root, includeDirectories: [...options.includeDirectories, ...others] };
      const opened = await readSettings(there);
      return { ...opened, options: buildSessionOptions(there, opened) };
    },
  };
}
