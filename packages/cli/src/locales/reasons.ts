import type { TextKey } from "./en.ts";
import { say } from "./say.ts";

/**
 * The reasons for questions in the engine's words, which also go to logs and other programs, and the key of the
 * translated text for each. A `{value}` matches any text; the first matching row wins.
 */
const REASONS: readonly (readonly [reason: string, key: TextKey])[] = [
  ["`{part}` needs an approval: {why}", "reason.part"],
  ["edit asks before it acts, and no rule allows this call", "reason.edits"],
  ["write_file asks before it acts, and no rule allows this call", "reason.edits"],
  ["{tool} asks before it acts, and no rule allows this call", "reason.tool"],
  ["`{name}` is not known to be read-only", "reason.unknown"],
  ["`{text}` writes a file", "reason.writes"],
  ["`{text}` sets a variable", "reason.variable"],
  ["what `{text}` names is known only when it runs", "reason.openName"],
  ["which program it starts is known only when it runs", "reason.openProgram"],
  ["what `{name}` runs is not in its arguments", "reason.shell"],
  ["`{name}` launches `{other}`", "reason.launches"],
  ["`{text}` can make it do something else", "reason.option"],
  ["`git {name}` changes the repository", "reason.git"],
  ["`git {name}` can run other programs, or is an alias", "reason.gitOther"],
  ["`rm -r` deletes whole folders", "reason.deletes"],
  ["`{text}` holds {what}", "reason.holds"],
  ["what `{text}` stands for is known only when it runs", "reason.holds"],
  ["`{text}` runs in the background", "reason.background"],
  ["`{path}` is outside the root", "reason.outside"],
  ["`{path}` leads out of the root through a link", "reason.link"],
  ["`{path}` may be in a home folder", "reason.home"],
  ["it would run in a folder outside the root", "reason.folder"],
  ["it reads in a folder outside the project", "reason.beside"],
  ["`{path}` is protected ({what}), so only the user can allow a change", "reason.protected"],
  ["{path} is protected ({what}), so no rule and no mode but yolo allows it", "reason.protectedEdit"],
  ["it writes protected files: {names}", "reason.protectedWrites"],
  ["the model asks you something", "reason.asks"],
  ["it asks for more than the sandbox allows", "reason.sandbox"],
  ["the rule ask {rule} asks about `{part}`", "reason.rule"],
  ["the rule ask {rule} demands it", "reason.demands"],
];

/** Matches the note about protected files that may follow a question's reason. */
const ADDED = /^([\s\S]+); (it writes protected files: [\s\S]+)$/;

/** Translates the reason for a question into the user's language. A reason without a translation stays unchanged. */
export function translateReason(reason: string): string {
  const [, first, added] = ADDED.exec(reason) ?? [];
  if (first !== undefined && added !== undefined)
    return say("reason.added", { reason: translateReason(first), added: translateReason(added) });
  for (const [written, key] of REASONS) {
    const values = matchTemplate(written, reason);
    if (values === null) continue;
    const { why } = values;
    return say(key, why === undefined ? values : { ...values, why: translateReason(why) });
  }
  return reason;
}

function matchTemplate(written: string, reason: string): Record<string, string> | null {
  const pattern = written
    .split(/(\{\w+\})/)
    .map((piece) => (piece.startsWith("{") ? `(?<${piece.slice(1, -1)}>[\\s\\S]+)` : escapePattern(piece)))
    .join("");
  return new RegExp(`^${pattern}$`).exec(reason)?.groups ?? (written === reason ? {} : null);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
