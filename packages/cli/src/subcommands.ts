import type { Subcommand } from "./request/subcommand.ts";

const FLAG = { type: "boolean" } as const;
const TEXT = { type: "string" } as const;
const SIDES = { ours: FLAG, theirs: FLAG };
const TEXTS = { type: "string", multiple: true } as const;

/**
 * All subcommands. A new one needs a file in modes/ that exports `run`, a row here, and its texts in request/usages.ts.
 */
const ROWS = {
  call: { load: () => import("./modes/call.ts") },
  tools: { takesWords: false, load: () => import("./modes/tools.ts") },
  models: { takesWords: false, ownOptions: { online: FLAG }, load: () => import("./modes/models.ts") },
  explain: { load: () => import("./modes/explain.ts") },
  grants: { load: () => import("./modes/grants.ts") },
  keys: { load: () => import("./modes/keys.ts") },
  sessions: { ownOptions: { all: FLAG }, load: () => import("./modes/sessions.ts") },
  replay: { ownOptions: { tools: FLAG, fork: TEXT }, load: () => import("./modes/replay.ts") },
  undo: {
    ownOptions: {
      list: FLAG,
      session: TEXT,
      call: TEXT,
      file: TEXT,
      prompt: FLAG,
      turn: FLAG,
      to: TEXT,
      redo: FLAG,
      forget: FLAG,
    },
    load: () => import("./modes/undo.ts"),
  },
  worktrees: { ownOptions: SIDES, load: () => import("./modes/worktrees/worktrees.ts") },
  attempts: { ownOptions: SIDES, load: () => import("./modes/worktrees/attempts.ts") },
  trust: { load: () => import("./modes/trust.ts") },
  mcp: {
    ownOptions: { scope: TEXT, env: TEXTS, header: TEXTS, transport: TEXT, trust: FLAG, replace: FLAG },
    // A URL has no command line of its own, so options may follow it.
    ownWords: ([verb, , target = ""]) =>
      verb === "add" && !/^https?:/.test(target) ? 3 : Number.POSITIVE_INFINITY,
    load: () => import("./modes/mcp.ts"),
  },
  serve: { ownOptions: { http: FLAG, port: TEXT }, load: () => import("./modes/serve.ts") },
  fleet: {
    ownOptions: {
      database: TEXT,
      concurrency: TEXT,
      "per-model": TEXT,
      "per-provider": TEXT,
      "per-tenant": TEXT,
      run: TEXT,
      "no-follow": FLAG,
      follow: { ...FLAG, short: "f" },
      patches: TEXT,
      predictions: TEXT,
      port: TEXT,
      health: TEXT,
      "task-memory": TEXT,
    },
    load: () => import("./modes/fleet.ts"),
  },
  import: {
    takesWords: false,
    ownOptions: { from: TEXT, all: FLAG, project: FLAG, apply: FLAG },
    load: () => import("./modes/import/import.ts"),
  },
  plugins: { ownOptions: { apply: FLAG }, load: () => import("./modes/plugins/plugins.ts") },
  doctor: { takesWords: false, ownOptions: { online: FLAG }, load: () => import("./modes/doctor/doctor.ts") },
  completion: { load: () => import("./modes/completion.ts") },
  demo: { takesWords: false, load: () => import("./modes/demo/demo.ts") },
} satisfies Record<string, Subcommand>;

export type SubcommandName = keyof typeof ROWS;
export const SUBCOMMANDS: Readonly<Record<SubcommandName, Subcommand>> = ROWS;

export function isSubcommand(name: string): name is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, name);
}
