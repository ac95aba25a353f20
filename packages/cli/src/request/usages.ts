import { formatOptionsHelp, OPTIONS } from "./option-table.ts";

/** The help about environment variables and exit codes. */
export const ENVIRONMENT = [
  [
    "Environment: OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL name the model's service,",
    "or the same with ANTHROPIC_ or GEMINI_; BURIN_HOME moves ~/.burin.",
  ],
  [
    "Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 approval missing or refused, 4 a limit,",
    "130 interrupted (SIGTERM 143, SIGHUP 129, SIGQUIT 131).",
  ],
]
  .map((pieces) => `${pieces.join(" ")}\n`)
  .join("");

export type Usage = readonly (readonly [form: string, meaning: string])[];

const OUTPUT = ["output-format", "json"];
const PLACE = ["root", "settings"];
const RULES = ["include-directories", "approval-mode", "yes", "sandbox", "allow", "deny"];
const RUN = ["model", "max-turns", "budget", "check", "quiet"];

/** For each command: its own options besides the common ones, and its forms with a description of each. */
const COMMANDS: Readonly<Record<string, readonly [options: readonly string[], ...forms: Usage]>> = {
  call: [
    [...OUTPUT, ...PLACE, ...RULES],
    ["call <tool> [json|-]", "runs one tool with all its checks, without a model"],
  ],
  tools: [
    [...OUTPUT, ...PLACE, "include-directories"],
    ["tools [--json]", "the tools that the model is offered"],
  ],
  models: [
    [...OUTPUT, ...PLACE, "model"],
    ["models [--online] [--json]", "the models to ask; --online: what their services offer"],
  ],
  explain: [
    [...OUTPUT, ...PLACE, ...RULES],
    ["explain '<command>'", "whether a shell command would run unasked, and why; runs nothing"],
  ],
  grants: [
    [...OUTPUT, "root"],
    ["grants", 'what "always" has allowed, in this project and elsewhere'],
    ["grants revoke <number|rule>", "takes one back"],
  ],
  keys: [
    [...OUTPUT],
    ["keys", "the keys of services that are kept for all starts; never the keys themselves"],
    ["keys remove <number|variable|host>", "forgets one"],
  ],
  sessions: [
    [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    ["sessions list [--all]", "the sessions of this folder, or of all folders"],
    ["sessions show <id>", "everything that happened in a session"],
    ["sessions answer <id> yes|no|always [words]", "answers what a session was parked with, and goes on"],
    ["sessions rm <id>...", "removes the records of sessions"],
  ],
  replay: [
    [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    ["replay <id> [--tools]", "replays it without its model; --tools: makes its calls in a copied folder"],
    ["replay <id> --fork N [-m NAME]", "continues from turn N in a new session"],
  ],
  undo: [
    [...OUTPUT, "root"],
    ["undo [N] [--session ID]", "takes back what the last call changed, the last N, or those of a session"],
    [
      "undo --prompt | --turn | --to N | --call ID | --file PATH",
      "since your last prompt, since the last turn, all after turn N, one call, one file",
    ],
    ["undo --redo | --list | --forget", "puts it back; what can be taken back; removes what is kept for it"],
  ],
  worktrees: [
    [...OUTPUT, "root", "yes"],
    ["worktrees", "the work trees of burin -w, and whether their changes were merged"],
    [
      "worktrees merge NAME [FILE...]",
      "brings its changes, or those of these files, into your files; --theirs, --ours: where both changed the same lines",
    ],
    ["worktrees rm NAME...", "removes work trees; --yes: also what was not merged"],
  ],
  attempts: [
    [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    [
      'attempts N ["prompt"] [-m A,B] [--check COMMAND]',
      "works on one prompt N times side by side, each in a work tree of its own, and compares them",
    ],
    ["attempts | show N", "lists them; what one has said and changed"],
    ["attempts take N [FILE...]", "brings one, or files of it, into your files; --theirs, --ours"],
    ["attempts rm [N...]", "removes them, or the last ones; --yes: also what was not merged"],
  ],
  trust: [
    [...OUTPUT, "root"],
    ["trust", "what this folder's own settings would run; runs nothing"],
    ["trust yes|no|forget", "follows them, never follows them, or asks again"],
    ["trust list", "the folders that you trusted or refused"],
  ],
  mcp: [
    [...OUTPUT, ...PLACE],
    [
      "mcp add [...] <alias> <command|url>",
      "adds an MCP server; --scope, --env, --header, --transport, --trust, --replace",
    ],
    ["mcp list | remove <alias>", "lists servers and whether they can be reached; removes one"],
    ["mcp test [alias]", "connects to servers and lists what they offer"],
    ["mcp login <alias>", "logs in to a server that requires it"],
  ],
  serve: [
    [...PLACE, ...RULES, ...RUN],
    ["serve mcp [--http] [--port N]", "Burin's tools for MCP clients, over stdio or HTTP on this computer"],
    ["serve acp", "the agent of an editor that speaks the Agent Client Protocol"],
  ],
  fleet: [
    [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    [
      "fleet run <tasks.jsonl> [--database URL]",
      "works on many tasks, each in a session of its own; --concurrency N, --no-follow, --budget AMOUNT",
    ],
    [
      "fleet worker [--concurrency N] [--per-model N]",
      "works on tasks with other workers; also --per-provider N, --per-tenant N, --task-memory 2G, --health PORT",
    ],
    ["fleet status | results [run]", "how a run stands; --json, --patches DIR, --predictions FILE"],
    ["fleet logs <task> [-f]", "everything that happened in a task"],
    [
      "fleet questions [run] | answer <task> yes|no [words]",
      "what tasks wait for; answers a question, and with -f goes on with the run",
    ],
    [
      "fleet cancel | retry <task|run>...",
      "cancels tasks; retries those that did not end well, also with -f",
    ],
    ["fleet serve [--port N]", "shows all of it as a web page on this computer"],
    ["fleet remove [--yes]", "what the fleet has on this computer, and removes it"],
  ],
  import: [
    [...OUTPUT, "root"],
    ["import [--from claude|codex|gemini|qwen]", "lists what another agent has that can be imported"],
    [
      "import --from NAME --apply [--all] [--project]",
      "imports it; --all: sessions of all folders; --project: also rules that lie in this one",
    ],
  ],
  plugins: [
    [...OUTPUT],
    ["plugins add <folder|url|site|marketplace> [name]", "shows what it has and runs; --apply installs it"],
    ["plugins update [name]", "lists updates of installed plugins; --apply installs them"],
    ["plugins list | remove <name>", "lists installed plugins; removes one"],
  ],
  doctor: [
    [...OUTPUT, ...PLACE, "model", "sandbox"],
    ["doctor [--online] [--json]", "checks what works here; --online also contacts services"],
  ],
  completion: [
    [],
    ["completion bash|zsh|fish", "a script that completes commands and options in that shell"],
  ],
  demo: [
    [],
    ["demo", "a small task with a scripted model that follows your answers; at a terminal in the app"],
  ],
};

/** The forms of all commands, for the help. */
export const FORMS: Usage = Object.values(COMMANDS).flatMap(([, ...forms]) => forms);

/** Returns what the help says about one command. */
export function findHelp(command: string): { readonly forms: Usage; readonly options: string } {
  const [options, ...forms] = COMMANDS[command] ?? [[]];
  const counts = new Set([...options, "no-color", "help"]);
  return { forms, options: formatOptionsHelp(OPTIONS.filter(({ long }) => counts.has(long.slice(2)))) };
}

/** Returns the commands and options for shell completion, with the words that can follow each command. */
export function listCompletedWords() {
  const commands = Object.entries(COMMANDS).map(([name, [, ...forms]]) => {
    const ways = forms.flatMap(([form]) => form.slice(name.length + 1).split(" | "));
    const actions = ways.flatMap((way) => /^[a-z|]+/.exec(way)?.[0].split("|") ?? []);
    const named = forms.flat().flatMap((text) => text.match(/--[a-z-]+/g) ?? []);
    const own = named.filter((option) => OPTIONS.every(({ long }) => long !== option));
    return { name, meaning: forms[0]?.[1] ?? "", actions, own: [...new Set(own)] };
  });
  return { commands, options: OPTIONS };
}
