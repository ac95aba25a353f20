import { quoteShellWord } from "@burin/contract/text/shell-words";
import { createWordSet } from "@burin/contract/text/words";
import type { CommandReach } from "./command-place.ts";
import { type CommandRule, describeRule } from "./command-rules.ts";
import type { SimpleCommand } from "./grammar/command-parts.ts";
import { SOME_COMMIT } from "./grammar/literal-word.ts";
import { listEffects } from "./part-effects.ts";
import { isBareLauncher } from "./programs/bare-launchers.ts";
import type { Argument, Finding } from "./programs/finding.ts";
import { baseName } from "./programs/launches.ts";
import { buildWideRule } from "./programs/wide-rules.ts";
import { formatRule } from "./rules.ts";
import type { Grants, PartVerdict } from "./verdict.ts";

/** The open findings about one command, and the rules that cover the others. */
export interface JudgedCommand {
  readonly findings: readonly Finding[];
  readonly rule?: CommandRule;
  /** The words that a rule could spell out; null when the command is more than plain words. */
  readonly words?: readonly Argument[] | null;
  /** The folder in which the command would run. */
  readonly reach?: CommandReach;
}

export function createPartVerdict(command: SimpleCommand, judged: JudgedCommand): PartVerdict {
  const { findings, rule, words = null, reach } = judged;
  const { text } = command;
  const first = findings.find(isProtected) ?? findings.find(isAlwaysAsked) ?? findings[0];
  if (first === undefined) {
    if (rule === undefined)
      return {
        text,
        verdict: "allow",
        reason: "it only reads inside the root",
        isOnlyReading: true,
        effects: [],
      };
    const reason = `${describeRule(rule)} covers it`;
    return { text, verdict: "allow", reason, isOnlyReading: false, rule: rule.text, effects: [] };
  }
  const isOnlyReading = findings.every(({ nature }) => nature === "outside");
  const contained = isContained(command, judged) ? { isContained: true as const } : {};
  const effects = listEffects(findings, reach);
  const asked = { text, verdict: "ask", reason: first.what, isOnlyReading, effects, ...contained } as const;
  const isGrantableFinding = (finding: Finding) =>
    !isAlwaysAsked(finding) && (finding.writes !== undefined || finding.upTo < command.words.length);
  if (words === null || !findings.every(isGrantableFinding)) return asked;
  const grants = findGrants(words, judged);
  return grants === null ? asked : { ...asked, grants };
}

/**
 * Programs whose effects are not in the project's files: they act as another user, on a service or on another machine.
 */
const EXTERNAL_PROGRAMS = createWordSet(
  "sudo doas su pkexec runuser docker podman nerdctl kubectl helm systemctl service crontab at batch mount umount shutdown reboot poweroff halt",
);

/**
 * Whether the command stays inside the roots, as far as its words say it, and destroys nothing that undo cannot
 * restore.
 */
function isContained({ words, redirections }: SimpleCommand, { findings, reach }: JudgedCommand): boolean {
  if (reach === undefined || EXTERNAL_PROGRAMS.has(baseName(words[0]?.value ?? ""))) return false;
  const targets = redirections.map(({ text, target }) => ({ text, value: target }));
  const places = [...words.slice(1), ...targets].flatMap(({ text, value }) =>
    listPossibleOutsidePaths(text, value),
  );
  if (places.some((path) => reach.explainOutside(path, false) !== null)) return false;
  return findings.every(({ nature, isKept, deletes }) => {
    if (nature === "outside" || nature === "protected") return false;
    if (deletes === undefined) return nature !== "destructive" || isKept === true;
    return deletes.length > 0 && deletes.every((path) => reach.canRestore(path));
  });
}

/**
 * Lists what may be an absolute path, or a path above the folder. `/x/d` may also be plain text; then the user is asked
 * needlessly.
 */
function listPossibleOutsidePaths(text: string, value: string | null): string[] {
  // Only the shell knows which folder that is.
  if (value === null) return /(?:^|[\s"'=])(?:~|\$\{?(?:HOME|OLDPWD|TMPDIR)\b)/.test(text) ? ["~"] : [];
  return [value, value.replace(/^[^/~=]*=/, "")].filter((path) => /^(?:\/|~|\.\.(?:\/|$))/.test(path));
}

/** Returns the rules that would cover the findings in future; null when no rule can. */
function findGrants(words: readonly Argument[], { findings, reach }: JudgedCommand): Grants | null {
  if (reach === undefined) return null;
  const written = findings.flatMap(({ writes }) => writes ?? []).map((path) => findWriteGrants(path, reach));
  const ofWrites = written.filter((grants) => grants !== null);
  if (ofWrites.length < written.length) return null;
  const isOnlyWriting = findings.every(({ writes }) => writes !== undefined);
  const ofWords = isOnlyWriting ? { exact: [], wide: [] } : findWordGrants(words, reach);
  if (ofWords === null) return null;
  const all = [ofWords, ...ofWrites];
  return { exact: all.flatMap(({ exact }) => exact), wide: all.flatMap(({ wide }) => wide) };
}

function findWordGrants(words: readonly Argument[], reach: CommandReach): Grants | null {
  const hasUncertainValue = ({ value, isGlob, below }: Argument) =>
    isGlob || below !== undefined || value.includes(SOME_COMMIT);
  const values = words.map(({ value }) => value);
  if (words.some(hasUncertainValue) || isBareLauncher(values)) return null;
  const exact = [formatRule(values.map(quoteShellWord), true)];
  const wide = buildWideRule(words, reach);
  return { exact, wide: wide === null ? exact : [formatRule(wide)] };
}

/**
 * Creates a rule for the file, or for everything in its folder; but never for everything in the root, where the
 * project's own settings are.
 */
function findWriteGrants(path: string, reach: CommandReach): Grants | null {
  const places = new Set(reach.explainOutside(path, false) === null ? reach.listLocations(path) : []);
  const [place] = places;
  if (places.size !== 1 || place === undefined || !/^[\w./@+-]+$/.test(place)) return null;
  const folder = place.slice(0, Math.max(place.lastIndexOf("/"), 0));
  const exact = [formatRule([`> ${place}`])];
  return { exact, wide: folder === "" ? exact : [formatRule([`> ${folder}/**`])] };
}

export function isProtected({ nature }: Finding): boolean {
  return nature === "protected";
}

export function isAlwaysAsked({ nature }: Finding): boolean {
  return nature === "protected" || nature === "destructive";
}
