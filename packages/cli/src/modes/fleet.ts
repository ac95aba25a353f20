import { resolveBurinHome } from "@burin/core/internal";
import type { FleetOptions, FleetRequest } from "@burin/fleet";
import { buildSessionOptions, type CommonOptions, readSettings } from "../request/options.ts";
import { readPort, readText, readWholeNumber } from "../request/read-values.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { visible } from "../terminal/output.ts";
import { formatQuestion } from "../terminal/question-text.ts";
import { formatRecord } from "./sessions.ts";

const DEFAULT_CONCURRENCY = 4;

/** Runs many sessions on many machines, with a separate package that may not be installed. */
export async function run(request: SubcommandRequest, io: Io): Promise<ExitCode> {
  const { runFleet, FleetError, TaskError } = await loadFleet();
  try {
    const isWell = await runFleet(buildFleetRequest(request), resolveFleetOptions(request.options, io));
    if (io.signal.aborted) return EXIT.interrupted;
    return isWell ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (error instanceof FleetError || error instanceof TaskError) throw new UsageError(error.message);
    throw error;
  }
}

async function loadFleet(): Promise<typeof import("@burin/fleet")> {
  try {
    return await import("@burin/fleet");
  } catch (error) {
    if (!/Cannot find package '@burin\/fleet'/.test(String(error))) throw error;
    throw new UsageError("burin fleet is a package of its own. Install it: npm i -g @burin/fleet");
  }
}

function buildFleetRequest({ words, options, subcommandOptions }: SubcommandRequest): FleetRequest {
  const { BURIN_FLEET_DATABASE: fromEnvironment } = process.env;
  // Hide it from the commands that a task runs.
  delete process.env.BURIN_FLEET_DATABASE;
  // Treat an empty value as missing.
  const named = ["database", "port", "run", "patches", "predictions", "health", "task-memory"].map(
    (name) => readText(subcommandOptions[name]) || undefined,
  );
  const [database = fromEnvironment, portText, run, patches, predictions, health, taskMemory] = named;
  const [perModel, perProvider, perTenant] = ["model", "provider", "tenant"].map((name) =>
    readCount(subcommandOptions, `per-${name}`),
  );
  return {
    words,
    concurrency: readCount(subcommandOptions, "concurrency") ?? DEFAULT_CONCURRENCY,
    // A run is followed by default; a log is followed only on request.
    follow: words[0] === "run" ? subcommandOptions["no-follow"] !== true : subcommandOptions.follow === true,
    json: options.outputFormat !== "text",
    limits: { perModel, perProvider, perTenant },
    budget: options.budget,
    port: portText === undefined ? undefined : readPort(portText),
    database,
    run,
    patches,
    predictions,
    health,
    taskMemory,
    yes: options.approvalMode === "yolo",
  };
}

function readCount(
  subcommandOptions: SubcommandRequest["subcommandOptions"],
  name: string,
): number | undefined {
  const value = subcommandOptions[name];
  return value === undefined ? undefined : readWholeNumber(`--${name}`, String(value));
}

function resolveFleetOptions(options: CommonOptions, { output, signal }: Io): FleetOptions {
  return {
    home: resolveBurinHome(process.env),
    root: options.root,
    out: (text) => output.out(text),
    note: (text) => output.note(`burin: ${visible(text)}`),
    signal,
    showQuestion: ({ confirmation }) => formatQuestion(confirmation),
    showRecord: (record) => visible(formatRecord(record)),
    open: async (root, { model, around }) => {
      // The budget on the command line is for the whole run, so it must not apply to each session.
      const there = { ...options, budget: undefined, root, ...(model !== undefined && { model }) };
      const opened = await readSettings(there);
      const { createModelOpener } = await import("./print/find-model.ts");
      const { openModel } = await createModelOpener(opened.settings, around);
      return { ...buildSessionOptions(there, opened), openModel };
    },
  };
}
