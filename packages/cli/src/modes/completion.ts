import { APPROVAL_MODES, SANDBOX_MODES } from "@burin/core/internal";
import type { Option } from "../request/option-table.ts";
import { LANGUAGE_CODES, OUTPUT_FORMATS } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { listCompletedWords } from "../request/usages.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";

/** The options that accept only certain values, with those values. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  "--output-format": OUTPUT_FORMATS,
  "--approval-mode": APPROVAL_MODES,
  "--sandbox": SANDBOX_MODES,
  "--lang": LANGUAGE_CODES,
};
const FILES = new Set(["FILE", "DIR", "A,B"]);

/** Prints a completion script for a shell, to be used in that shell's startup file. */
export async function run({ words }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [shell = "", more] = words;
  const script = more === undefined && Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError("write burin completion bash, zsh or fish.");
  output.out(script());
  return EXIT.done;
}

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: buildBashScript,
  zsh: buildZshScript,
  fish: buildFishScript,
};

function buildBashScript(): string {
  const { commands, options } = listCompletedWords();
  const names = commands.map(({ name }) => name).join(" ");
  const flags = options.flatMap(({ long, short = [] }) => [long].concat(short)).join(" ");
  const values = options.flatMap((option) => {
    const body = formatBashValue(option);
    return body === null ? [] : [`    ${listSpellings(option).join("|")}) ${body}; return ;;`];
  });
  return `# burin completion bash: add  eval "$(burin completion bash)"  to ~/.bashrc
_burin() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" after own
  COMPREPLY=()
  case "\${COMP_WORDS[1]}" in
${listFollowingWords()}
  esac
  case "$before" in
${values.join("\n")}
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "${flags} \${own[*]}" -- "$word"))
    return
  fi
  if [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W "${names}" -- "$word"))
    return
  fi
  [[ $COMP_CWORD == 2 ]] && COMPREPLY=($(compgen -W "\${after[*]}" -- "$word"))
}
complete -o default -F _burin burin
`;
}

/** Returns the bash code that completes an option's value: null if it takes none. Free text is not completed. */
function formatBashValue({ long, value }: Option): string | null {
  if (value === undefined) return null;
  const choices = CHOICES[long];
  if (choices !== undefined) return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$word"))`;
  return FILES.has(value) ? 'COMPREPLY=($(compgen -f -- "$word"))' : ":";
}

function buildZshScript(): string {
  const { commands, options } = listCompletedWords();
  const described = commands.map(({ name, meaning }) => `    ${quoteWord(`${name}:${meaning}`)}`);
  const specs = options.flatMap((option) =>
    listSpellings(option).map(
      (name) => `    ${quoteWord(`${name}[${escapeForZsh(option.meaning)}]${formatZshValue(option)}`)} \\`,
    ),
  );
  return `#compdef burin
# burin completion zsh: add  eval "$(burin completion zsh)"  behind compinit in ~/.zshrc
_burin_commands() {
  local -a commands=(
${described.join("\n")}
  )
  _describe command commands
}
_burin() {
  local -a after own
  case "$words[2]" in
${listFollowingWords()}
  esac
  _arguments $own \\
${specs.join("\n")}
    '1:command:_burin_commands' \\
    '2:action:{(( $#after )) && compadd -a after || _files}' \\
    '*:file:_files'
}
compdef _burin burin
`;
}

function formatZshValue({ long, value }: Option): string {
  if (value === undefined) return "";
  const choices = CHOICES[long];
  if (choices !== undefined) return `:${value}:(${choices.join(" ")})`;
  return FILES.has(value) ? `:${value}:_files` : `:${value}: `;
}

function buildFishScript(): string {
  const { commands, options } = listCompletedWords();
  const names = commands.map(
    ({ name, meaning }) =>
      `complete -c burin -f -n __fish_use_subcommand -a ${name} -d ${quoteForFish(meaning)}`,
  );
  const flags = options.map((option) => {
    const { long, short, value, meaning } = option;
    const forms = `-l ${long.slice(2)}${short === undefined ? "" : ` -s ${short.slice(1)}`}`;
    const choices = CHOICES[long];
    const given = choices === undefined ? "" : ` -f -a ${quoteForFish(choices.join(" "))}`;
    return `complete -c burin ${forms}${value === undefined ? "" : " -r"}${given} -d ${quoteForFish(meaning)}`;
  });
  const after = commands.flatMap(({ name, actions, own }) => {
    const condition = `complete -c burin -n '__fish_seen_subcommand_from ${name}'`;
    const words = actions.length === 0 ? [] : [`${condition} -f -a ${quoteForFish(actions.join(" "))}`];
    return [...words, ...own.map((option) => `${condition} -l ${option.slice(2)}`)];
  });
  const head = "# burin completion fish: burin completion fish > ~/.config/fish/completions/burin.fish";
  return `${[head, ...names, ...flags, ...after].join("\n")}\n`;
}

/** Lists what can follow each command, in a syntax that bash and zsh share. */
function listFollowingWords(): string {
  const { commands } = listCompletedWords();
  return commands
    .map(({ name, actions, own }) => `    ${name}) after=(${actions.join(" ")}) own=(${own.join(" ")}) ;;`)
    .join("\n");
}

function listSpellings({ long, short }: Option): string[] {
  return short === undefined ? [long] : [short, long];
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Escapes brackets and colons, which have a meaning in zsh descriptions. */
function escapeForZsh(text: string): string {
  return text.replace(/[[\]:\\]/g, "\\$&");
}

function quoteForFish(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
