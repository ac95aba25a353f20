import type { Word, WordPart } from "unbash";

/** What a program will get for a word, or why only the shell can know it. */
export type WordReading = { readonly value: string; readonly isGlob: boolean } | { readonly problem: string };

const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;
/** Stands for what quotes protect: no character of it means anything to the shell. */
const QUOTED = "_";

const MEANT_BY: Readonly<Partial<Record<WordPart["type"], string>>> = {
  AnsiCQuoted: "an ANSI-C quote",
  LocaleString: "a translated string",
  SimpleExpansion: "an expansion",
  ParameterExpansion: "an expansion",
  CommandExpansion: "a command substitution",
  ArithmeticExpansion: "an arithmetic expansion",
  ProcessSubstitution: "a process substitution",
  ExtendedGlob: "an extended pattern",
  BraceExpansion: "a brace expansion",
};

/** Reads a word that means the same to every shell; anything else is a problem, never a guess. */
export function readWord(word: Word): WordReading {
  if (PLAIN.test(word.text)) {
    return word.value === word.text ? { value: word.text, isGlob: false } : { problem: "an unreadable word" };
  }
  let bare = "";
  let value = "";
  const { pos, end, text } = word;
  const whole: WordPart = { type: "Literal", pos, end, text, value: word.value };
  for (const part of word.parts ?? [whole]) {
    const piece = pieceOf(part);
    if ("problem" in piece) return piece;
    bare += piece.bare;
    value += piece.value;
  }
  if (value !== word.value) return { problem: "an unreadable word" };
  const problem = bareProblem(bare);
  return problem === null ? { value, isGlob: /[*?]/.test(bare) || encloses(bare, "[", "]") } : { problem };
}

function pieceOf(part: WordPart): { bare: string; value: string } | { problem: string } {
  switch (part.type) {
    case "Literal":
      return { bare: part.text.replace(/\\[\s\S]/g, QUOTED), value: part.value };
    case "Glob":
      return { bare: part.text.replace(/\\[\s\S]/g, QUOTED), value: part.value };
    case "SingleQuoted":
      return { bare: QUOTED, value: part.value };
    case "DoubleQuoted": {
      let value = "";
      for (const child of part.parts) {
        if (child.type !== "Literal") return { problem: MEANT_BY[child.type] ?? "an expansion" };
        if (hasExpansion(child.text.replace(/\\[\s\S]/g, QUOTED))) return { problem: "an expansion" };
        value += child.value;
      }
      return { bare: QUOTED, value };
    }
    default:
      return { problem: MEANT_BY[part.type] ?? "an expansion" };
  }
}

/** A second look that does not trust the grammar: characters that a shell acts upon outside of quotes. */
function bareProblem(bare: string): string | null {
  if (hasExpansion(bare)) return "an expansion";
  if (/(?:^|[=:])~/.test(bare)) return "a tilde expansion";
  if (encloses(bare, "{", "}") && /,|\.\./.test(bare)) return "a brace expansion";
  if (/[?*+@!]\(/.test(bare)) return "an extended pattern";
  return /['"\\<>|&;()\s]/.test(bare) ? "an unreadable word" : null;
}

function encloses(text: string, open: string, close: string): boolean {
  const at = text.indexOf(open);
  return at !== -1 && text.lastIndexOf(close) > at;
}

function hasExpansion(text: string): boolean {
  return /`|\$[A-Za-z0-9_({['"@*#?$!-]/.test(text);
}
