import type { Subcommand } from "./request/subcommand.ts";
import type { SubcommandName } from "./request/usages.ts";

/** Every subcommand; a new one is a file in modes/, a row here and one in request/usages.ts. */
const ROWS: Readonly<Record<SubcommandName, Subcommand>> = {
  call: { load: async () => (await import("./modes/call.ts")).runCall },
  tools: { load: async () => (await import("./modes/tools.ts")).runTools },
  models: {
    ownOptions: { online: { type: "boolean" } },
    load: async () => (await import("./modes/models.ts")).runModels,
  },
  explain: { load: async () => (await import("./modes/explain.ts")).runExplain },
  grants: { load: async () => (await import("./modes/grants.ts")).runGrants },
  sessions: {
    ownOptions: { all: { type: "boolean" } },
    load: async () => (await import("./modes/sessions.ts")).runSessions,
  },
  replay: {
    ownOptions: { tools: { type: "boolean" }, fork: { type: "string" } },
    load: async () => (await import("./modes/replay.ts")).runReplay,
  },
  undo: {
    ownOptions: { list: { type: "boolean" }, session: { type: "string" } },
    load: async () => (await import("./modes/undo.ts")).runUndo,
  },
  trust: { load: async () => (await import("./modes/trust.ts")).runTrust },
  mcp: {
    ownOptions: {
      scope: { type: "string" },
      env: { type: "string", multiple: true },
      header: { type: "string", multiple: true },
      transport: { type: "string" },
      trust: { type: "boolean" },
      replace: { type: "boolean" },
    },
    ownWords: (first) => (first === "add" ? 3 : Number.POSITIVE_INFINITY),
    load: async () => (await import("./modes/mcp.ts")).runMcp,
  },
  serve: {
    ownOptions: { http: { type: "boolean" }, port: { type: "string" } },
    load: async () => (await import("./modes/serve.ts")).runServe,
  },
  fleet: {
    ownOptions: {
      database: { type: "string" },
      concurrency: { type: "string" },
      "per-model": { type: "string" },
      "per-provider": { type: "string" },
      "per-tenant": { type: "string" },
      run: { type: "string" },
      "no-follow": { type: "boolean" },
      follow: { type: "boolean", short: "f" },
      patches: { type: "string" },
      predictions: { type: "string" },
      port: { type: "string" },
    },
    load: async () => (await import("./modes/fleet.ts")).runFleetMode,
  },
  import: {
    ownOptions: {
      from: { type: "string" },
      all: { type: "boolean" },
      project: { type: "boolean" },
      apply: { type: "boolean" },
    },
    load: async () => (await import("./modes/import/import.ts")).runImport,
  },
  plugins: {
    ownOptions: { apply: { type: "boolean" } },
    load: async () => (await import("./modes/plugins/plugins.ts")).runPlugins,
  },
  doctor: {
    ownOptions: { online: { type: "boolean" } },
    load: async () => (await import("./modes/doctor/doctor.ts")).runDoctor,
  },
  completion: { load: async () => (await import("./modes/completion.ts")).runCompletion },
  demo: { load: async () => (await import("./modes/demo.ts")).runDemo },
};

export const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = ROWS;
