import { createWordSet } from "@burin/contract/text/words";
import { CommandReach } from "./command-place.ts";
import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { baseName, isBashLike, type Launch, listLaunches, SHELLS } from "./programs/launches.ts";
import { hasReader, readProgram } from "./programs/read-program.ts";
import { isStartingOption } from "./programs/task-programs.ts";
import { findRow, repeatRow } from "./tables.ts";

/** The words of one command that would run. null stands for any number of unknown words. */
export interface CommandWords {
  readonly words: readonly (string | null)[];
  readonly part: string;
  /** true if the command may not run at all. */
  readonly isPossible?: boolean;
  /** true if the words are a single text in which the program may find commands. */
  readonly isText?: boolean;
}

const UNKNOWN_COMMAND: CommandWords = { words: [null], part: "" };
/** The deepest nesting of shells that is followed; a deeper one counts as unknown. */
const MAX_DEPTH = 8;

/** Every command that a line may run, also in substitutions, after wrappers such as `env`, and in text for a shell. */
export function listCommands(line: ShellCommand): CommandWords[] {
  const found = listLineCommands(line, 0, null);
  return line.problems.some((problem) => !problem.includes("`")) ? [...found, UNKNOWN_COMMAND] : found;
}

function listLineCommands(line: ShellCommand, depth: number, part: string | null): CommandWords[] {
  const found = line.commands.flatMap((command) => listOwnCommands(command, depth, part ?? command.text));
  const texts = [...new Set(line.evaluated)].filter((text) => /`|\$\(/.test(text));
  // Large texts are not read, so their commands are unknown.
  const later =
    texts.join("").length > 20_000
      ? [UNKNOWN_COMMAND]
      : texts.flatMap((text) => listEvaluatedCommands(text, depth, part ?? ""));
  return [...found, ...later];
}

/** A file with a literal name in an unknown folder. */
const NAMED_FILE = /\/(?!stdin)(?=[\w.-]*[a-z])[\w.-]*"?$/i;

function listOwnCommands(command: SimpleCommand, depth: number, part: string): CommandWords[] {
  const reads = /^(?:\.|source)$/.test(command.words[0]?.value ?? "");
  const words = command.words.map(({ value, isGlob, text }) => {
    if (isGlob) return null;
    return value === null && reads && NAMED_FILE.test(text) ? text : value;
  });
  if (words.length === 0) return [];
  const fed = command.redirections.filter(({ kind }) => kind === "data").map(({ target }) => target);
  const set = command.assignments.map(({ value }) => value);
  const programs = command.assignments.filter(({ name }) => NAMES_PROGRAM.test(name));
  const named = programs.map(({ value }) => ({ words: value?.split(" ") ?? [], part, isPossible: true }));
  const said =
    isInterpreter(baseName(words[0] ?? "")) || words.includes("e") ? findPrintedText(command.input) : [];
  return [
    ...listLaunchedCommands(words, { depth, part, fed }),
    ...named,
    ...filterTexts([...set, ...said], part),
  ];
}

/** Variables whose value programs start. */
const NAMES_PROGRAM =
  /EDITOR|VISUAL|PAGER|BROWSER|SHELL|SSH$|ASKPASS|COMMAND|CMD|WRAPPER|RUNNER|^(?:CC|CXX|RUSTC)$/;

function findPrintedText(command: SimpleCommand | undefined): (string | null)[] {
  const [program, ...words] = command?.words ?? [];
  const isPrinted = /^(?:echo|printf)$/.test(program?.value ?? "");
  return isPrinted ? [words.map(({ value }) => value ?? "").join(" ")] : [];
}

/**
 * Lists the commands that would run if a text were evaluated like the body of a here-document, including quoted ones.
 */
function listEvaluatedCommands(text: string, depth: number, part: string): CommandWords[] {
  if (depth > 2) return [];
  const line = parseShellCommand(`: <<E\n${text.replaceAll("\\", "")}\nE`);
  const found = listLineCommands(
    { ...line, commands: line.commands.slice(1), evaluated: [] },
    depth + 1,
    part,
  );
  const all = line.isWhole ? found : [...found, { words: [null], part }];
  return all.map((one) => ({ ...one, isPossible: true }));
}

/**
 * Programs that start another program, here or elsewhere, after this many words of their own; below zero, they start
 * none.
 */
const START_POSITIONS: Readonly<Record<string, number>> = {
  ...repeatRow(
    `*.exec *.dlx *.-- poetry.run uv.run pipx.run pipenv.run pdm.run hatch.run rye.run conda.run mamba.run
    micromamba.run zellij.run heroku.run toolbox.run foreman.run honcho.run dotenv.run bun.x npm.x mise.x git.run
    git.foreach git.difftool git.for-each-repo perf.stat perf.record perf.trace rr.record cmake.-E meson.devenv
    adb.shell tmux.new tmux.new-session tmux.new-window tmux.neww tmux.split-window tmux.run-shell
    tmux.respawn-pane systemd-run systemd-cat systemd-nspawn systemd-socket-activate ifne ccache sccache distcc
    bear scan-build tini dumb-init catatonit mpirun mpiexec srun salloc qsub bsub proot wine corepack uvx screen
    xterm konsole alacritty kitty foot daemonize dtach abduco wsl dotenv run-one zrun gdb sshpass nodemon
    start-stop-daemon flatpak-spawn sem intercept-build fakechroot qemu-x86_64 qemu-aarch64 runit volta.run pm2.start
    forever.start railway.run dagger.run devbox.run just.-c just.--command nc.-e nc.-c ncat.-e ncat.-c mc.-e
    powershell.exe.-c tcpdump.-z caffeinate reattach-to-user-namespace xinit startx annotate-output rlfe fghack hugectl
    schedtool empty byobu.new inotifyd env-cmd pixi.run orb box64 gpg-agent watchexec`,
    0,
  ),
  ...repeatRow(
    `ssh autossh mosh bwrap faketime setuidgid s6-setuidgid chpst softlimit envdir lckdo with-lock-ex kcov docker.exec
    docker.run podman.exec podman.run nerdctl.exec nerdctl.run docker-compose.exec docker-compose.run kubectl.exec
    kubectl.run kubectl.debug oc.exec oc.run oc.debug oc.rsh direnv.exec nvm.exec lxc.exec incus.exec nix.shell
    nix.develop nix.run machinectl.shell distrobox.enter flatpak.run setlock dotlockfile runcon datefudge libfaketime
    envuidgid s6-envdir n.exec limactl.shell ip.exec sandbox-exec`,
    1,
  ),
  // These programs treat such words as files, or pass them on to what they build.
  ...repeatRow(
    "git.exec find.exec echo.exec git.-- npm.-- pnpm.-- yarn.-- bun.-- cargo.-- make.-- go.--",
    -1,
  ),
};
/** If more words than this may begin a command, it is unknown which one does. */
const MAX_STARTS = 12;

function listStartedCommands(
  words: readonly (string | null)[],
  own: ProgramWords,
  inside: NestedContext,
): CommandWords[] {
  const name = baseName(words[0] ?? "");
  const starts = words.flatMap((word, index) => {
    const own = index === 0 ? findRow(START_POSITIONS, name) : findRow(START_POSITIONS, `${name}.${word}`);
    return findCommandStarts(
      words,
      index,
      own ?? (index === 0 ? -1 : (findRow(START_POSITIONS, `*.${word}`) ?? -1)),
    );
  });
  const from = [...new Set(starts)];
  const after = from.length > MAX_STARTS ? [[null]] : from.map((at) => words.slice(at));
  const all = [
    ...after,
    ...listNamedCommands(own),
    ...(deletesLikeRm(words, inside.fed) ? [["rm", "-rf"]] : []),
  ];
  const deeper = { ...inside, depth: inside.depth + 4, fed: [] };
  return all
    .flatMap((some) => listLaunchedCommands(some, deeper))
    .map((one) => ({ ...one, isPossible: true }));
}

/**
 * Lists words that may be a command: the value of an option that starts something, of a variable that a wrapper sets,
 * or of an alias. A path inside the project does not count.
 */
function listNamedCommands({ words, starting }: ProgramWords): (readonly (string | null)[])[] {
  const set = words.filter((word) => NAMES_PROGRAM.test(/^\w+(?==)/.exec(word ?? "")?.[0] ?? ""));
  const near = [...set, ...starting.flatMap((at) => [words[at] ?? "", words[at + 1] ?? ""])];
  const values = near.map((word) => (word ?? "").replace(/^(?:-\w(?=[^-=]*$)|[\w.-]+=)/, "").split(/[\s,]+/));
  const aliases = words.flatMap((word, at) => expandAlias(word, words[at + 1] ?? null));
  const all = [...values, ...starting.map((at) => words.slice(at + 1)), ...aliases];
  return all.filter(([program]) => /^(?:\/.*|[^-/][^/]*)$/.test(program ?? ""));
}

/** Returns the command that a git alias stands for, as in `-c alias.p=push` or `config alias.p push`. */
function expandAlias(word: string | null, next: string | null): string[][] {
  const found = /^alias\.[^=]+(?:=(.*))?$/s.exec(word ?? "");
  const text = found === null ? null : (found[1] ?? next);
  return text === null ? [] : [["git", ...text.split(/\s+/)]];
}

const DELETE_COMMAND =
  /^(?:find|fd)\b.* -delete\b|^(?:unlink|shred|rimraf|trash|del-cli) |^cmake -E (?:rm|remove)|^npx (?:shx|rimraf) /s;
const DELETE_IN_TEXT =
  /\b(?:unlink|rmtree|rm_rf?|rmSync|rmdir|removedirs|remove_tree|File\.delete|(?:fs|os|Deno|FileUtils)\.(?:rm|remove))\b/;

/** Whether the program deletes as `rm` does, without starting `rm`. */
function deletesLikeRm(words: readonly (string | null)[], fed: NestedContext["fed"]): boolean {
  const name = baseName(words[0] ?? "");
  const text = [name, ...words.slice(1), ...fed].join(" ");
  return DELETE_COMMAND.test(text) || (isInterpreter(name) && DELETE_IN_TEXT.test(text));
}

/** Lists the words that may begin the command: a word after an option may be that option's value. */
function findCommandStarts(words: readonly (string | null)[], own: number, before: number): number[] {
  const starts: number[] = [];
  let passed = 0;
  for (let at = own + 1; at < words.length && passed <= before && starts.length <= MAX_STARTS; at += 1) {
    const word = words[at] ?? null;
    if (word?.startsWith("-")) continue;
    if (word === null ? at === words.length - 1 : !/[=:]/.test(word)) starts.push(at);
    if (word !== null && (at === own + 1 || !words[at - 1]?.startsWith("-"))) passed += 1;
  }
  return starts;
}

const TEXT_WORD = /[\s"'`(!]|^--[\w-]*filter=/;
/** The word after one of these options is a message or a pattern. */
const MESSAGE_OPTION = /^(?:-[a-zA-Z]*[mSGkt]|--(?:message|grep|author|trailer|format|pretty))(?=$|=)/;
const INTERPRETERS = createWordSet(`
  perl ruby node php lua tclsh expect ed red ex m4 awk dc make crontab osascript deno bun pwsh psql mysql
  sqlite3 R julia irb pry jshell jjs groovy scala erl ghci ftp lftp sftp telnet ssh pic roff groff troff`);

function isInterpreter(name: string): boolean {
  return INTERPRETERS.has(name) || /^(?:python[\d.]*|pypy\d*)$/.test(name);
}

/**
 * Lists the texts in which a program may find commands. For a known program, only the texts with which it starts
 * something.
 */
function findCommandTexts({ words, starting }: ProgramWords, { part, fed }: NestedContext): CommandWords[] {
  const name = baseName(words[0] ?? "");
  if (SHELLS.has(name) || (/^(?:gh|glab)$/.test(name) && words[1] !== "alias")) return [];
  if (hasReader(name) && starting.length === 0) return [];
  const given = words.filter(
    (word, index) => !MESSAGE_OPTION.test(words[index - 1] ?? "") && !MESSAGE_OPTION.test(word ?? ""),
  );
  const scripts = starting.map((at) => words[at]?.replace(/[^\w\s.+-]+|(?<!\w)-/g, "\n") ?? "");
  const read = starting.length > 0 || isInterpreter(name) ? [...given, ...fed] : given;
  return filterTexts([...read, ...scripts], part);
}

/** The words of a command without the words of a command that it launches. */
interface ProgramWords {
  readonly words: readonly (string | null)[];
  /** The positions of words that make the program start something else, according to the tables. */
  readonly starting: readonly number[];
}

function splitOwnWords(all: readonly (string | null)[]): ProgramWords {
  const [launch] = listLaunches(all);
  const words = launch === undefined ? all : all.slice(0, launch.kind === "words" ? launch.from : 1);
  const known = words.map((word) => ({ value: word ?? "", isGlob: false }));
  const findings = words.length < 2 ? [] : readProgram(known, new CommandReach(undefined));
  const told = findings.flatMap(({ nature, upTo }) => (nature === "launch" ? [upTo] : []));
  return { words, starting: told.filter((at) => at > 0 && at < words.length) };
}

function filterTexts(words: readonly (string | null)[], part: string): CommandWords[] {
  const texts = words.filter((word) => TEXT_WORD.test(word ?? "") || isStartingOption(word ?? ""));
  return texts.map((text) => ({ words: [text], part, isPossible: true, isText: true }));
}

interface NestedContext {
  readonly depth: number;
  readonly part: string;
  /** The text that the program reads as its input. */
  readonly fed: readonly (string | null)[];
}

const GNU_NAME =
  /^g(?:awk|chmod|chown|cp|dd|env|find|install|kill|ln|make|mkdir|mv|nice|nohup|rm|rmdir|sed|shred|stdbuf|tar|tee|timeout|touch|truncate|unlink|xargs)$/;

function listLaunchedCommands(words: readonly (string | null)[], inside: NestedContext): CommandWords[] {
  const { depth, part, fed } = inside;
  const found: CommandWords[] = [{ words, part }];
  if (depth > MAX_DEPTH) return [...found, { words: [null], part }];
  // On systems with their own versions of these programs, the names of GNU's begin with "g".
  const [name, ...rest] = words;
  if (GNU_NAME.test(name ?? "")) found.push(...listLaunchedCommands([name?.slice(1) ?? "", ...rest], inside));
  const own = splitOwnWords(words);
  found.push(...listStartedCommands(words, own, inside), ...findCommandTexts(own, inside));
  const deeper = { ...inside, depth: depth + 1 };
  for (const launch of listLaunches(words)) {
    if (launch.kind === "words") {
      const launched = selectWords(launch, words);
      // Such a program passes its text to a shell.
      if (/\s/.test(launched[0] ?? "")) found.push(...listScriptCommands(launched[0] ?? "", "sh", deeper));
      found.push(...listLaunchedCommands(launched, deeper));
    } else {
      const texts = launch.kind === "script" ? [launch.text] : fed.length > 0 ? fed : [null];
      found.push(...texts.flatMap((text) => listScriptCommands(text, words[0] ?? "", deeper)));
    }
  }
  return found;
}

/** Returns the words of a launched command; null stands for words that are known only at run time. */
function selectWords(
  { from, to, isOpen, placeholder = "" }: Extract<Launch, { kind: "words" }>,
  words: readonly (string | null)[],
): (string | null)[] {
  const containsPlaceholder = (word: string | null) =>
    isOpen && placeholder !== "" && word?.includes(placeholder);
  const known = words.slice(from, to).map((word) => (containsPlaceholder(word) ? null : word));
  return isOpen ? [...known, null] : known;
}

function listScriptCommands(
  text: string | null,
  shell: string,
  { depth, part }: NestedContext,
): CommandWords[] {
  if (text === null) return [{ words: [null], part }];
  const line = parseShellCommand(text, isBashLike(shell));
  return [...listLineCommands(line, depth, part), ...(line.isWhole ? [] : [{ words: [null], part }])];
}
