import type { Subcommand } from "./request/subcommand.ts";

/** Every subcommand; a new one is a file in modes/ and a row here. */
export const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  call: {
    usage: [["call <tool> [json|-]", "one tool through the whole flow, no model"]],
    load: async () => (await import("./modes/call.ts")).runCall,
  },
  tools: {
    usage: [["tools [--json]", "what the model is told of"]],
    load: async () => (await import("./modes/tools.ts")).runTools,
  },
  explain: {
    usage: [["explain '<command>'", "whether a shell command would run unasked, and why; runs nothing"]],
    load: async () => (await import("./modes/explain.ts")).runExplain,
  },
  grants: {
    usage: [
      ["grants", 'what "always" has allowed, in this project and elsewhere'],
      ["grants revoke <number|rule>", "takes one back"],
    ],
    load: async () => (await import("./modes/grants.ts")).runGrants,
  },
  sessions: {
    usage: [
      ["sessions list [--all]", "the sessions of this folder, or of all folders"],
      ["sessions show <id>", "everything that happened in a session"],
      ["sessions answer <id> yes|no|always [words]", "answers what a session was parked with, and goes on"],
      ["sessions rm <id>...", "removes the records of sessions"],
    ],
    ownOptions: { all: { type: "boolean" } },
    load: async () => (await import("./modes/sessions.ts")).runSessions,
  },
  replay: {
    usage: [
      [
        "replay <id> [--tools]",
        "a session again, without its model; --tools: really, in a copy of the folder",
      ],
      ["replay <id> --fork N [-m NAME]", "goes on from turn N in a session of its own"],
    ],
    ownOptions: { tools: { type: "boolean" }, fork: { type: "string" } },
    load: async () => (await import("./modes/replay.ts")).runReplay,
  },
  undo: {
    usage: [
      ["undo [N] [--session ID]", "takes back the last change of a file, the last N, or those of a session"],
      ["undo --list", "what can be taken back"],
    ],
    ownOptions: { list: { type: "boolean" }, session: { type: "string" } },
    load: async () => (await import("./modes/undo.ts")).runUndo,
  },
  trust: {
    usage: [
      ["trust", "what this folder's own settings would run; runs nothing"],
      ["trust yes|no|forget", "follows them, never follows them, or asks again"],
      ["trust list", "the folders that were answered for"],
    ],
    load: async () => (await import("./modes/trust.ts")).runTrust,
  },
  mcp: {
    usage: [
      [
        "mcp add [...] <alias> <command|url>",
        "adds an MCP server; --scope, --env, --header, --transport, --trust, --replace",
      ],
      ["mcp list | remove <alias>", "what servers there are; takes one out"],
      ["mcp test [alias]", "starts servers and says what they offer"],
      ["mcp login <alias>", "logs in to a server that wants it"],
    ],
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
  doctor: {
    usage: [["doctor [--online] [--json]", "what works here and what does not; --online also asks services"]],
    ownOptions: { online: { type: "boolean" } },
    load: async () => (await import("./modes/doctor/doctor.ts")).runDoctor,
  },
  demo: {
    usage: [["demo", "the whole flow in ten seconds, no model needed"]],
    load: async () => (await import("./modes/demo.ts")).runDemo,
  },
};
