import type { Subcommand } from "./request/subcommand.ts";
import type { SubcommandName } from "./request/usages.ts";

const FLAG = { type: "boolean" } as const;
const TEXT = { type: "string" } as const;
const TEXTS = { type: "string", multiple: true } as const;

/** Every subcommand; a new one is a file in modes/, a row here and one in request/usages.ts. */
export const SUBCOMMANDS: Readonly<Record<SubcommandName, Subcommand>> = {
  call: { load: async () => (await import("./modes/call.ts")).runCall },
  tools: { load: async () => (await import("./modes/tools.ts")).runTools },
  models: { ownOptions: { online: FLAG }, load: async () => (await import("./modes/models.ts")).runModels },
  explain: { load: async () => (await import("./modes/explain.ts")).runExplain },
  grants: { load: async () => (await import("./modes/grants.ts")).runGrants },
  sessions: {
    ownOptions: { all: FLAG },
    load: async () => (await import("./modes/sessions.ts")).runSessions,
  },
  replay: {
    ownOptions: { tools: FLAG, fork: TEXT },
    load: async () => (await import("./modes/replay.ts")).runReplay,
  },
  undo: {
    ownOptions: { list: FLAG, session: TEXT },
    load: async () => (await import("./modes/undo.ts")).runUndo,
  },
  trust: { load: async () => (await import("./modes/trust.ts")).runTrust },
  mcp: {
    ownOptions: { scope: TEXT, env: TEXTS, header: TEXTS, transport: TEXT, trust: FLAG, replace: FLAG },
    ownWords: (first) => (first === "add" ? 3 : Number.POSITIVE_INFINITY),
    load: async () => (await import("./modes/mcp.ts")).runMcp,
  },
  serve: {
    ownOptions: { http: FLAG, port: TEXT },
    load: async () => (await import("./modes/serve.ts")).runServe,
  },
  fleet: {
    ownOptions: {
      database: TEXT,
      concurrency: TEXT,
      "per-model": TEXT,
      "per-provider": TEXT,
      "per-tenant": TEXT,
      run: TEXT,
      "no-follow": FLAG,
      follow: { type: "boolean", short: "f" },
      patches: TEXT,
      predictions: TEXT,
      port: TEXT,
    },
    load: async () => (await import("./modes/fleet.ts")).runFleetMode,
  },
  import: {
    ownOptions: { from: TEXT, all: FLAG, project: FLAG, apply: FLAG },
    load: async () => (await import("./modes/import/import.ts")).runImport,
  },
  plugins: {
    ownOptions: { apply: FLAG },
    load: async () => (await import("./modes/plugins/plugins.ts")).runPlugins,
  },
  doctor: {
    ownOptions: { online: FLAG },
    load: async () => (await import("./modes/doctor/doctor.ts")).runDoctor,
  },
  completion: { load: async () => (await import("./modes/completion.ts")).runCompletion },
  demo: { load: async () => (await import("./modes/demo.ts")).runDemo },
};

export function isSubcommand(name: string): name is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, name);
}
