// Which files are one chunk: what is first used at one moment.

/**
 * Each file that is loaded costs as much as 10 kB more in another one, so that what is first used at one moment is one
 * file. Each takes along what it needs and no earlier one has: what comes first here holds what several need, and so
 * nothing is loaded for the sake of what comes later.
 */
const MOMENTS = Object.entries({
  // From a request to its reply, and each kind of work that calls ask for. `burin call` has no session.
  shared: [
    "files/src/disk/(?:own-files|path-lock|disk-looks)",
    "files/src/paths/paths",
    "net/src/connection-fault",
    "log/project-name",
    "commands/src/processes/(?:at-exit|child-environment|process-table)",
  ],
  reply: ["log/event-log", "log/redactor", "replies/read-answer", "calls/(?:normalize-call|text-calls)"],
  calls: [
    "agent/call-round",
    "scheduler/(?:scheduler|checked-tool)",
    "approval/judge-call",
    "files/src/workspace/files",
    "commands/src/file-helpers",
  ],
  processes: ["commands/src/processes/supervisor"],
  changes: ["files/src/workspace/change-files", "core/src/text/overwriting", "undo/undo-journal"],
  edits: ["core/src/text/edit-code"],
  searches: [
    "files/src/search/search-files",
    "files/src/workspace/find-files",
    "files/src/ignore/tree-look",
    "files/src/tree/tree",
  ],
  commands: [
    "shell/running-commands",
    "text/command-report",
    "sandbox/sandbox-probe",
    "processes/terminal-process",
  ],
  judging: [
    "approval/approval-policy",
    "settings/grants",
    "commands/src/git/git-repository",
    "processes/command-surroundings",
  ],
  // What only some starts, some services and some calls need.
  settings: ["settings/(?:parse-layer|json-fault|managed-settings)", "mcp/src/tool-names"],
  questions: [
    "scheduler/(?:decision|questions|unknown-tool)",
    "approval/question-view",
    "terminal/question-text",
  ],
  proof: ["session/(?:work-proof|ask-until)", "assembly/(?:join-journal|containment)"],
  protocols: [
    "models/src/protocols/(?:anthropic|gemini|openai-responses)",
    "models/src/request/(?:tool-schema|tuning)",
  ],
  replies: ["models/src/replies/reply-reader", "models/src/protocols/[\\w-]+-reply"],
  keys: ["models/src/keys/(?:key-source|aws-signature)", "mcp/src/keychain"],
  failures: [
    "models/src/choice/reach-model",
    "print/how-to-connect",
    "models/src/failures/(?:learn|fallback)",
    "session/failed-run",
    "terminal/report-failure",
  ],
  trust: [
    "discovery/command-source",
    "hooks/hooks",
    "assembly/guarded-calls",
    "settings/(?:folder-trust|trust|change-settings|project-definitions)",
  ],
  history: [
    "session/past-session",
    "session/log/(?:write-session|clean-file|session-summary)",
    "session/(?:resume|turn-count|schema-problem)",
    "print/(?:resume-session|answer-schema)",
  ],
  journal: [
    "session/undo/(?:tree-journal|git-changes|cut-calls)",
    "commands/src/(?:processes/process-ledger|sandbox/guard-notes)",
    "commands/src/git/git-work",
    "files/src/tree/repository",
  ],
  undo: ["session/undo/(?:undo(?:-door)?|take-back-git|git-blobs)"],
  worktrees: [
    "session/worktree/(?:work-trees|merge-tree)",
    "modes/worktrees/[\\w-]+",
    "commands/merge-work-tree",
  ],
  mcp: ["mcp/src/(?:mcp-server|mcp-door|result-parts|tool-change)", "assembly/join-mcp"],
  sdk: ["@modelcontextprotocol/[\\w/.-]+", "zod/[\\w/.-]+"],
  oauth: ["mcp/src/(?:open-client|oauth-login|oauth-client)"],
  web: [
    "web/src/(?:fetch-web|read-page|search/search-web|search/mcp-search)",
    "net/src/(?:read-body|socks)",
    "parsing/parse-aside",
    "workspace/cut-image",
  ],
  helpers: [
    "agent/(?:subagent|take-up|compaction/shorten)",
    "text/memory-section",
    "models/src/(?:sound-model|scripted)",
    "configured-session",
  ],
  notebooks: ["text/notebook-edit", "agent/edit-corrector"],
  limits: [
    "shell/(?:command-question|protected-writes)",

    "git/uncommitted-changes",
    "assembly/join-egress",
  ],
  serve: ["serve/src/mcp/serve-(?:http|mcp)"],
  call: ["modes/(?:call|explain)"],
  inputs: ["modes/(?:serve|fleet)", "print/(?:stream-input|piped-file|ask-user)"],
  subcommands: ["modes/(?:sessions|undo|trust|grants|keys)"],
  app: ["interactive/app", "cli/src/state/start-facts", "terminal/inline-images"],
  panels: [
    "ui/(?:question-panel|form-panel|ask-panel)",
    "interactive/(?:first-start|edit-outside|output-of|palette|chosen-parts)",
    "state/(?:vim-keys|file-names)",
    "commands/(?:at-files|full-screen-programs)",
    "text/diff-hunks",
  ],
  slash: [
    "commands/(?:screen-commands|slash-commands)",
    "interactive/slash-desk",
    "cli/src/ui/page",
    "cli/src/help",
    "modes/completion",
    "request/usages",
  ],
  doctor: ["demo/demo(?:-model)?", "modes/replay", "doctor/(?:doctor|examine)", "modes/(?:models|mcp|tools)"],
});

export const MOMENT_GROUPS = MOMENTS.map(([name, files], index) => ({
  name,
  test: testOf(files),
  priority: (MOMENTS.length - index) / MOMENTS.length,
}));

/**
 * Chunks of the library: its classes come with the import, the rest with the first toolbox, session or question to
 * it. Each takes along what it needs and no earlier one has, so leaves that calls need too stand before these.
 */
export const LIBRARY_GROUPS = [
  ["patterns", "contract/src/patterns/[\\w-]+"],
  ["checks", "contract/src/messages/(?:schema-faults|check-schema)"],
  [
    "door",
    ...["contract/src/(?:tools|machine/workspace|settings/settings|text/visible-text)"],
    ...["core/src/tools/(?!built-in)[\\w-]+", "discovery/discovered-tool", "mcp/src/discovered-mcp-tool"],
    ...["agent/budget", "session/turn-count", "session/recorded-model", "log/session-error"],
    ...["commands/src/node-machine", "runtime"],
  ],
  [
    "shared",
    ...["disk/own-files", "(?:disk/disk-looks|paths/paths|encodings/encodings)", "text/near-names"],
    ...[
      "processes/helper-program",
      "workspace/(?:read-opened|media-kind)",
      "messages/message",
      "scheduler/(?:call-outcome|decision|function-response)",
    ],
  ],
  ["locks", "disk/path-lock", "vouched-files", "wait-for-output"],
  ["processes", "processes/(?:supervisor|process-table|child-environment)"],
  ["guesses", "encodings/guess-encoding"],
  ["differences", "diff/libesm/util/string"],
  ["toolbox", "assembly/toolbox"],
  ["session", "assembly/session"],
  ["create", "core/src/create-session"],
  ["models", "core/src/index"],
].map(([name = "", ...files], index) => ({ name, test: testOf(files), priority: 40 - index }));

/** @param {readonly string[]} files */
function testOf(files) {
  return new RegExp(`[\\\\/](?:${files.join("|").replaceAll("/", "[\\\\/]")})\\.[jt]s$`);
}
