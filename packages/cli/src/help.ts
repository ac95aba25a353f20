import { nearNames } from "@burin/core";
import { SUBCOMMANDS, type SubcommandName } from "./subcommands.ts";
import { UsageError } from "./terminal/exit-code.ts";

const OPTIONS = `Options:
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
      --max-turns N           most replies of the model to one prompt
      --budget AMOUNT         stop at 200k (tokens), $2, 10m or "50 calls"; several joined by commas
  -c, --continue              go on with the session that was used last in this folder
  -r, --resume ID             go on with that session (see burin sessions list)
      --fork                  with -c or -r: go on with a copy, and leave the session as it is
      --json-schema FILE      the final answer must be JSON that fits this schema
      --check COMMAND         must pass before the run has ended well; its failures go back to the model
      --input-format FORMAT   text (default) or stream-json: prompts on stdin, one {"type":"user","text":...} a line
      --confirm stdin         with stream-json in and out: questions are events, and are answered on stdin
      --park                  a question ends the run with exit code 3, to be answered later: burin sessions answer
      --no-session            keep no record of this session
  -q, --quiet                 only the answer, errors and notices
      --no-color              no styles
  -h, --help                  this text; burin <command> --help: about that command
      --version               the version
`;

const ENVIRONMENT = `Environment: OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL name the model's service, or the same with
ANTHROPIC_ or GEMINI_; BURIN_HOME moves ~/.burin.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 approval missing or refused, 4 a limit, 130 interrupted (SIGTERM 143, SIGHUP 129).
`;

type Usage = readonly (readonly [form: string, meaning: string])[];

/** What to write, and what it does. */
const USAGES: Readonly<Record<SubcommandName, Usage>> = {
  call: [["call <tool> [json|-]", "one tool through the whole flow, no model"]],
  tools: [["tools [--json]", "what the model is told of"]],
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
    ["replay <id> [--tools]", "a session again, without its model; --tools: really, in a copy of the folder"],
    ["replay <id> --fork N [-m NAME]", "goes on from turn N in a session of its own"],
  ],
  undo: [
    ["undo [N] [--session ID]", "takes back the last change of a file, the last N, or those of a session"],
    ["undo --list", "what can be taken back"],
  ],
  trust: [
    ["trust", "what this folder's own settings would run; runs nothing"],
    ["trust yes|no|forget", "follows them, never follows them, or asks again"],
    ["trust list", "the folders that were answered for"],
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
  doctor: [["doctor [--online] [--json]", "what works here and what does not; --online also asks services"]],
  demo: [["demo", "the whole flow in ten seconds, no model needed"]],
};

/** The help on everything, or on one command. Throws UsageError for a command that does not exist. */
export function helpText(topic?: string): string {
  if (topic === undefined) {
    const forms: Usage = [
      ['["prompt"]', "opens the app at a terminal, with a first prompt if one is given"],
      ['-p [options] "prompt"', "one prompt, no screen; text on stdin is added to it"],
      ["help [command]", "this text, or the help on one command"],
      ...Object.values(USAGES).flat(),
    ];
    const lines = forms.map(([form, meaning]) => `       burin ${form.padEnd(30)} ${meaning}\n`);
    return `Usage: burin [options] [prompt]\n${lines.join("")}\n${OPTIONS}\n${ENVIRONMENT}`;
  }
  if (!isSubcommand(topic)) throw unknownCommand(topic);
  const lines = USAGES[topic].map(([form, meaning]) => `  burin ${form}\n      ${meaning}\n`);
  return `Usage:\n${lines.join("")}\n${OPTIONS}`;
}

function isSubcommand(name: string): name is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, name);
}

/** A word that is nearly the name of a command was meant as that, not as a prompt. Throws UsageError. */
export function assertNoMistypedCommand(word: string): void {
  const [near] = commandsLike(word);
  if (near === undefined) return;
  throw new UsageError(
    `there is no command "${word}"; did you mean burin ${near}? If it is a prompt, say so: burin -p "${word} ..."`,
  );
}

function unknownCommand(name: string): UsageError {
  const [near] = commandsLike(name);
  const hint = near === undefined ? "See burin --help." : `Did you mean burin help ${near}?`;
  return new UsageError(`there is no command "${name}". ${hint}`);
}

/** "callback" is not nearly "call": only slips of one or two letters count. */
function commandsLike(word: string): string[] {
  const near = nearNames(word, ["help", "version", ...Object.keys(SUBCOMMANDS)]);
  return near.filter((name) => Math.abs(name.length - word.length) <= 2);
}
