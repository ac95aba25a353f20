import { OPTIONS, optionsHelp } from "./option-table.ts";

/** The variables that count in addition. */
export const ENVIRONMENT = `Environment: OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL name the model's service, or the same with ANTHROPIC_ or GEMINI_; BURIN_HOME moves ~/.burin.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 approval missing or refused, 4 a limit, 130 interrupted (SIGTERM 143, SIGHUP 129, SIGQUIT 131).
`;

export type Usage = readonly (readonly [form: string, meaning: string])[];

const OUTPUT = ["output-format", "json"];
const PLACE = ["root", "settings"];
const RULES = ["include-directories", "approval-mode", "yes", "sandbox", "allow", "deny"];
const RUN = ["model", "max-turns", "budget", "check", "quiet"];

interface CommandWords {
  readonly name: string;
  /** Those that it uses beside those of every command. */
  readonly options: readonly string[];
  readonly forms: Usage;
}

/** Each command, its options, and its forms with what they do. */
export const COMMANDS: readonly CommandWords[] = [
  {
    name: "call",
    options: [...OUTPUT, ...PLACE, ...RULES],
    forms: [["call <tool> [json|-]", "runs one tool with all its checks, without a model"]],
  },
  {
    name: "tools",
    options: [...OUTPUT, ...PLACE, "include-directories"],
    forms: [["tools [--json]", "the tools that the model is offered"]],
  },
  {
    name: "models",
    options: [...OUTPUT, ...PLACE, "model"],
    forms: [["models [--online] [--json]", "the models to ask; --online: what their services offer"]],
  },
  {
    name: "explain",
    options: [...OUTPUT, ...PLACE, ...RULES],
    forms: [["explain '<command>'", "whether a shell command would run unasked, and why; runs nothing"]],
  },
  {
    name: "grants",
    options: [...OUTPUT, "root"],
    forms: [
      ["grants", 'what "always" has allowed, in this project and elsewhere'],
      ["grants revoke <number|rule>", "takes one back"],
    ],
  },
  {
    name: "sessions",
    options: [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    forms: [
      ["sessions list [--all]", "the sessions of this folder, or of all folders"],
      ["sessions show <id>", "everything that happened in a session"],
      ["sessions answer <id> yes|no|always [words]", "answers what a session was parked with, and goes on"],
      ["sessions rm <id>...", "removes the records of sessions"],
    ],
  },
  {
    name: "replay",
    options: [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    forms: [
      ["replay <id> [--tools]", "replays it without its model; --tools: makes its calls in a copied folder"],
      ["replay <id> --fork N [-m NAME]", "continues from turn N in a new session"],
    ],
  },
  {
    name: "undo",
    options: [...OUTPUT, "root"],
    forms: [
      ["undo [N] [--session ID]", "takes back the last change of a file, the last N, or those of a session"],
      ["undo --list", "what can be taken back"],
    ],
  },
  {
    name: "trust",
    options: [...OUTPUT, "root"],
    forms: [
      ["trust", "what this folder's own settings would run; runs nothing"],
      ["trust yes|no|forget", "follows them, never follows them, or asks again"],
      ["trust list", "the folders that you trusted or refused"],
    ],
  },
  {
    name: "mcp",
    options: [...OUTPUT, ...PLACE],
    forms: [
      [
        "mcp add [...] <alias> <command|url>",
        "adds an MCP server; --scope, --env, --header, --transport, --trust, --replace",
      ],
      ["mcp list | remove <alias>", "lists servers and whether they can be reached; removes one"],
      ["mcp test [alias]", "connects to servers and lists what they offer"],
      ["mcp login <alias>", "logs in to a server that requires it"],
    ],
  },
  {
    name: "serve",
    options: [...PLACE, ...RULES, ...RUN],
    forms: [
      ["serve mcp [--http] [--port N]", "Burin's tools for MCP clients, over stdio or HTTP on this computer"],
      ["serve acp", "the agent of an editor that speaks the Agent Client Protocol"],
    ],
  },
  {
    name: "fleet",
    options: [...OUTPUT, ...PLACE, ...RULES, ...RUN],
    forms: [
      [
        "fleet run <tasks.jsonl> [--database URL]",
        "works on many tasks, each in a session of its own; --concurrency N, --no-follow, --budget AMOUNT",
      ],
      [
        "fleet worker [--concurrency N] [--per-model N]",
        "works on tasks together with other workers; also --per-provider N, --per-tenant N",
      ],
      ["fleet status | results [run]", "how a run stands; --json, --patches DIR, --predictions FILE"],
      ["fleet logs <task> [-f]", "everything that happened in a task"],
      ["fleet questions [run] | answer <task> yes|no [words]", "what tasks wait for; answers a question"],
      ["fleet cancel | retry <task|run>...", "cancels tasks; retries those that did not end well"],
      ["fleet serve [--port N]", "shows all of it as a web page on this computer"],
    ],
  },
  {
    name: "import",
    options: [...OUTPUT, "root"],
    forms: [
      ["import [--from claude|codex|gemini|qwen]", "lists what another agent has that can be imported"],
      [
        "import --from NAME --apply [--all] [--project]",
        "imports it; --all: sessions of all folders; --project: also rules that lie in this one",
      ],
    ],
  },
  {
    name: "plugins",
    options: [...OUTPUT],
    forms: [
      ["plugins add <folder|url|site|marketplace> [name]", "shows what it has and runs; --apply installs it"],
      ["plugins update [name]", "lists updates of installed plugins; --apply installs them"],
      ["plugins list | remove <name>", "lists installed plugins; removes one"],
    ],
  },
  {
    name: "doctor",
    options: [...OUTPUT, ...PLACE, "model", "sandbox"],
    forms: [["doctor [--online] [--json]", "checks what works here; --online also contacts services"]],
  },
  {
    name: "completion",
    options: [],
    forms: [["completion bash|zsh|fish", "a script that completes commands and options in that shell"]],
  },
  { name: "demo", options: [], forms: [["demo", "shows everything in ten seconds, no model needed"]] },
];

/** What the help says about one command. */
export function helpOn(command: string): { readonly forms: Usage; readonly options: string } {
  const { forms = [], options = [] } = COMMANDS.find(({ name }) => name === command) ?? {};
  const counts = new Set([...options, "no-color", "help"]);
  return { forms, options: optionsHelp(OPTIONS.filter(({ long }) => counts.has(long.slice(2)))) };
}

/** The commands and options of the help, for shell completion, and what can follow a command's name. */
export function completedWords() {
  const commands = COMMANDS.map(({ name, forms }) => {
    const ways = forms.flatMap(([form]) => form.slice(name.length + 1).split(" | "));
    const actions = ways.flatMap((way) => /^[a-z|]+/.exec(way)?.[0].split("|") ?? []);
    const named = forms.flat().flatMap((text) => text.match(/--[a-z-]+/g) ?? []);
    const own = named.filter((option) => OPTIONS.every(({ long }) => long !== option));
    return { name, meaning: forms[0]?.[1] ?? "", actions, own: [...new Set(own)] };
  });
  return { commands, options: OPTIONS };
}
