/** All options of the command line; `optionsOf` selects those that a command uses. */
export const OPTIONS = `Options:
  -p, --print                 run one prompt and print the answer
      --output-format FORMAT  text (default), json (one document) or stream-json (one event a line)
  -m, --model NAME            the model to ask
      --approval-mode MODE    plan, default, auto-edit or yolo
  -y, --yes                   the same as --approval-mode yolo
      --sandbox MODE          off, read-only or workspace-write (default): what commands can reach
      --allow RULE            run matching calls unasked, e.g. read_file or edit(src/**); may be repeated
      --deny RULE             never run matching calls; may be repeated
      --root DIR              the folder to work in (default: this one)
      --include-directories A,B   more folders that may be used; may be repeated
      --settings FILE         one more settings.json
      --max-turns N           most replies of the model to one prompt (default 200)
      --budget AMOUNT         stop at 200k (tokens), $2, 10m or "50 calls"; several joined by commas
  -c, --continue              go on with the session that was used last in this folder
  -r, --resume ID             go on with that session (see burin sessions list); without ID the app lists them
      --fork                  with -c or -r: go on with a copy, and leave the session as it is
      --json-schema FILE      the final answer must be JSON that fits this schema
      --check COMMAND         must pass before the run has ended well; its failures go back to the model
      --input-format FORMAT   text (default) or stream-json: prompts on stdin, one {"type":"user","text":...} a line
      --confirm stdin         with stream-json in and out: questions are events, and are answered on stdin
      --park                  a question ends the run with exit code 3, to be answered later: burin sessions answer
      --no-session            keep no record of this session
  -q, --quiet                 only the answer, errors and notices
      --no-color              no styles
      --lang LANGUAGE         the app's language: en, zh, ja, fr or ru
  -h, --help                  this text; burin <command> --help: about that command
      --version               the version
`;

/** The variables that count in addition. */
export const ENVIRONMENT = `Environment: OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL name the model's service, or the same with
ANTHROPIC_ or GEMINI_; BURIN_HOME moves ~/.burin.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 approval missing or refused, 4 a limit, 130 interrupted (SIGTERM 143, SIGHUP 129, SIGQUIT 131).
`;

export type Usage = readonly (readonly [form: string, meaning: string])[];

/** The syntax of each command, and what it does. */
export const USAGES = {
  call: [["call <tool> [json|-]", "runs one tool with all its checks, without a model"]],
  tools: [["tools [--json]", "the tools that the model is offered"]],
  models: [
    ["models [--online] [--json]", "the models that can be asked; --online: what their services offer"],
  ],
  explain: [["explain '<command>'", "whether a shell command would run unasked, and why; runs nothing"]],
  grants: [
    ["grants", 'what "always" has allowed, in this project and elsewhere'],
    ["grants revoke <number|rule>", "takes one back"],
  ],
  sessions: [
    ["sessions list [--all]", "the sessions of this folder, or of all folders"],
    ["sessions show <id>", "everything that happened in a session"],
    ["sessions answer <id> yes|no|always [words]", "answers what a session was parked with, and goes on"],
    ["sessions rm <id>...", "removes the records of sessions"],
  ],
  replay: [
    [
      "replay <id> [--tools]",
      "replays a session without its model; --tools: makes the calls in a copy of the folder",
    ],
    ["replay <id> --fork N [-m NAME]", "continues from turn N in a new session"],
  ],
  undo: [
    ["undo [N] [--session ID]", "takes back the last change of a file, the last N, or those of a session"],
    ["undo --list", "what can be taken back"],
  ],
  trust: [
    ["trust", "what this folder's own settings would run; runs nothing"],
    ["trust yes|no|forget", "follows them, never follows them, or asks again"],
    ["trust list", "the folders that you trusted or refused"],
  ],
  mcp: [
    [
      "mcp add [...] <alias> <command|url>",
      "adds an MCP server; --scope, --env, --header, --transport, --trust, --replace",
    ],
    ["mcp list | remove <alias>", "lists servers and whether they can be reached; removes one"],
    ["mcp test [alias]", "connects to servers and lists what they offer"],
    ["mcp login <alias>", "logs in to a server that requires it"],
  ],
  serve: [
    [
      "serve mcp [--http] [--port N]",
      "Burin's tools for any MCP client, over stdio or HTTP on this computer",
    ],
    ["serve acp", "the agent of an editor that speaks the Agent Client Protocol"],
  ],
  fleet: [
    [
      "fleet run <tasks.jsonl> [--database URL]",
      "works on many tasks, each in a session of its own; --concurrency N, --no-follow, --budget AMOUNT",
    ],
    [
      "fleet worker [--concurrency N] [--per-model N]",
      "works on tasks together with other workers; also --per-provider N, --per-tenant N",
    ],
    [
      "fleet status | results [run]",
      "progress and results of a run; --json, --patches DIR, --predictions FILE",
    ],
    ["fleet logs <task> [-f]", "everything that happened in a task"],
    ["fleet questions [run] | answer <task> yes|no [words]", "what tasks wait for; answers a question"],
    ["fleet cancel | retry <task|run>...", "cancels tasks; retries those that did not end well"],
    ["fleet serve [--port N]", "shows all of it as a web page on this computer"],
  ],
  import: [
    [
      "import [--from claude|codex|gemini|qwen]",
      "lists what can be imported from another agent; changes nothing",
    ],
    [
      "import --from NAME --apply [--all] [--project]",
      "imports it; --all: sessions of all folders; --project: also rules that lie in this one",
    ],
  ],
  plugins: [
    [
      "plugins add <folder|url|site|marketplace> [name]",
      "shows what a plugin holds and would run; --apply installs it",
    ],
    ["plugins update [name]", "lists updates of installed plugins; --apply installs them"],
    ["plugins list | remove <name>", "lists installed plugins; removes one"],
  ],
  doctor: [["doctor [--online] [--json]", "checks what works here; --online also contacts services"]],
  completion: [["completion bash|zsh|fish", "a script that completes commands and options in that shell"]],
  demo: [["demo", "shows everything in ten seconds, no model needed"]],
} satisfies Record<string, Usage>;

export type SubcommandName = keyof typeof USAGES;

const PLACE = ["root", "settings"];
const RULES = ["include-directories", "approval-mode", "yes", "sandbox", "allow", "deny"];
const RUN = ["model", "max-turns", "budget", "check", "quiet"];

/** The options above that each command uses, in addition to those of every command. */
const COUNTING: Readonly<Record<SubcommandName, readonly string[]>> = {
  call: ["output-format", ...PLACE, ...RULES],
  tools: ["output-format", ...PLACE, "include-directories"],
  models: ["output-format", ...PLACE, "model"],
  explain: ["output-format", ...PLACE, ...RULES],
  grants: ["output-format", "root"],
  sessions: ["output-format", ...PLACE, ...RULES, ...RUN],
  replay: ["output-format", ...PLACE, ...RULES, ...RUN],
  undo: ["output-format", "root"],
  trust: ["output-format", "root"],
  mcp: ["output-format", ...PLACE],
  serve: [...PLACE, ...RULES, ...RUN],
  fleet: ["output-format", ...PLACE, ...RULES, ...RUN],
  import: ["output-format", "root"],
  plugins: ["output-format"],
  doctor: ["output-format", ...PLACE, "model", "sandbox"],
  completion: [],
  demo: [],
};

export function optionsOf(name: SubcommandName): string {
  const counts = new Set([...COUNTING[name], "no-color", "help"]);
  const lines = OPTIONS.split("\n").filter((line) => counts.has(/--([a-z-]+)/.exec(line)?.[1] ?? ""));
  return `Options:\n${lines.join("\n")}\n`;
}

export interface CompletedOption {
  readonly long: string;
  readonly short: string | undefined;
  /** Its value, as named in the help. */
  readonly value: string | undefined;
  readonly meaning: string;
}

/** The commands and options of the help, for shell completion, and what can follow a command's name. */
export function completedWords() {
  const commands = Object.entries(USAGES).map(([name, forms]) => {
    const ways = forms.flatMap(([form]) => form.slice(name.length + 1).split(" | "));
    const actions = ways.flatMap((way) => /^[a-z|]+/.exec(way)?.[0].split("|") ?? []);
    const named = forms.flat().flatMap((text) => text.match(/--[a-z-]+/g) ?? []);
    const own = named.filter((option) => !OPTIONS.includes(` ${option} `));
    return { name, meaning: forms[0]?.[1] ?? "", actions, own: [...new Set(own)] };
  });
  const found = OPTIONS.matchAll(/^ +(?:(-\w), )?--([a-z-]+)(?: ([A-Z][A-Z,]*))? +(.+)$/gm);
  const options = [...found].map(
    ([, short, long = "", value, meaning = ""]): CompletedOption => ({
      long: `--${long}`,
      short,
      value,
      meaning,
    }),
  );
  return { commands, options };
}
