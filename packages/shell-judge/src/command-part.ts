import { insertPassedWords, readArguments } from "./command-arguments.ts";
import { type CommandLocation, CommandReach } from "./command-place.ts";
import type { CommandRule } from "./command-rules.ts";
import { judgeSurroundings } from "./command-surroundings.ts";
import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { createPartVerdict, isAlwaysAsked, type JudgedCommand } from "./part-verdict.ts";
import { TAKES_ANY_WORD } from "./programs/any-text.ts";
import { type Argument, BEYOND_RULES, createLaunchFinding, type Finding } from "./programs/finding.ts";
import { isBashLike, type Launch, listLaunches } from "./programs/launches.ts";
import { judgeProgram } from "./programs/read-program.ts";
import { judgeProtectedWords } from "./protected-words.ts";
import { coverFindings, coverSurroundings } from "./rule-coverage.ts";
import { judgeUnknownWords } from "./unknown-words.ts";
import type { PartVerdict } from "./verdict.ts";

/** How deep nested shells are followed; a deeper one makes the line ask. */
const MAX_DEPTH = 5;

interface JudgeContext {
  readonly allow: readonly CommandRule[];
  readonly reach: CommandReach;
  readonly depth: number;
  /** The command whose output this one reads, if known. */
  readonly input?: SimpleCommand | undefined;
}

/**
 * Judges each simple command of a line by the allow rules and by what is known of its program. Lazy: judges only as
 * many commands as the caller reads.
 */
export function* judgeParts(
  line: ShellCommand,
  allow: readonly CommandRule[],
  place: CommandLocation | undefined,
): Generator<PartVerdict> {
  for (const [command, judged] of judgeCommands(line, { allow, reach: new CommandReach(place), depth: 0 })) {
    const verdict = createPartVerdict(command, judged);
    if (!command.isRepeat || verdict.verdict !== "allow") yield verdict;
  }
}

function* judgeCommands(
  line: ShellCommand,
  judging: JudgeContext,
): Generator<[SimpleCommand, JudgedCommand]> {
  for (const command of judging.reach.visitCommands(line.commands)) {
    const isFed = command.redirections.some(({ kind }) => kind === "read" || kind === "data");
    const input = isFed ? undefined : (command.input ?? judging.input);
    yield [command, judgeSimple(command, { ...judging, input })];
  }
}

/** Returns the findings that no rule covers. */
function judgeSimple(command: SimpleCommand, judging: JudgeContext): JudgedCommand {
  const words = readArguments(command);
  const around = judgeSurroundings(command, judging.reach);
  const judged =
    words === null ? { findings: judgeUnknownWords(command, judging.reach) } : judgeWords(words, judging);
  return coverSurroundings({ ...judged, words }, around, judging);
}

/** Returns the findings that no rule covers. A rule covers the words that it spells out, and the program itself. */
function judgeWords(words: readonly Argument[], judging: JudgeContext): JudgedCommand {
  if (words.length === 0) return { findings: [] };
  const launches = listLaunches(words.map(({ value, below }) => (below === undefined ? value : null)));
  const findings = [
    ...judgeProgram(words, launches, judging.reach),
    ...launches.flatMap((launch) => {
      if (launch.kind === "words") return judgeLaunchedWords(words, launch, judging);
      return launch.kind === "script" ? judgeScript(launch, words[0]?.value ?? "", judging) : [];
    }),
  ];
  const isOnlyReading = findings.every(({ nature }) => nature === "outside");
  const all = isOnlyReading ? findings : [...findings, ...judgeProtectedWords(words, judging.reach)];
  return coverFindings(all, words, judging);
}

function judgeLaunchedWords(
  words: readonly Argument[],
  launch: Extract<Launch, { kind: "words" }>,
  judging: JudgeContext,
): Finding[] {
  const { from, to } = launch;
  const name = words[from]?.value ?? "";
  const inner = { ...judging, depth: judging.depth + 1, reach: judging.reach.createInnerReach() };
  const handed = insertPassedWords(words, launch, judging.input);
  if (judging.depth > MAX_DEPTH || words[from]?.isGlob === true || name === "cd" || handed === "program") {
    return [createLaunchFinding(`\`${words[0]?.value}\` launches \`${name}\``, to - 1)];
  }
  const launched = words.slice(from, to);
  // Without input the program still runs, and some programs then read the current folder.
  const wordings = handed === null ? [launched] : launch.isOpen ? [handed, launched] : [handed];
  const findings = wordings.flatMap((wording) =>
    judgeWords(wording, inner).findings.map((finding) => ({
      ...finding,
      upTo: finding.upTo === BEYOND_RULES ? BEYOND_RULES : Math.min(finding.upTo + from, to - 1),
    })),
  );
  if (handed === null && !TAKES_ANY_WORD.has(name)) {
    findings.push(
      createLaunchFinding(`\`${words[0]?.value}\` hands words to \`${name}\` that are not known`, to - 1),
    );
  }
  return findings;
}

function judgeScript(
  { text, at }: Extract<Launch, { kind: "script" }>,
  shell: string,
  judging: JudgeContext,
): Finding[] {
  if (text === null || judging.depth > MAX_DEPTH)
    return [createLaunchFinding("it runs a command line that is not known", at)];
  const line = parseShellCommand(text, isBashLike(shell));
  const inner = { ...judging, depth: judging.depth + 1, reach: judging.reach.createInnerReach() };
  const found = [...judgeCommands(line, inner)].flatMap(([, { findings }]) => findings);
  return [...line.problems.map((problem) => createLaunchFinding(problem, at)), ...found.map(toScriptFinding)];

  /** The rule must spell out the whole script, and covers no more than it would outside the script. */
  function toScriptFinding(finding: Finding): Finding {
    const nature = isAlwaysAsked(finding) ? finding.nature : "launch";
    const { writes: _writes, ...others } = finding;
    return { ...others, nature, upTo: finding.upTo === BEYOND_RULES ? BEYOND_RULES : at };
  }
}
