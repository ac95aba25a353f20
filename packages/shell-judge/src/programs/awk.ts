import { createWordSet } from "@burin/contract/text/words";

/** Names through which an AWK program reaches files and other programs. */
const OUTWARD_NAME =
  /^(?:system|getline|extension|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|ENVIRON|bindtextdomain|TEXTDOMAIN|fflush|close|\|)$/;

/** Matches the same names anywhere in the text, because other AWKs may tokenize the program differently. */
const MAYBE_OUTWARD =
  /system|getline|extension|@|ARGV|ARGC|TAB|PROCINFO|ENVIRON|textdomain|TEXTDOMAIN|fflush|close|\\\n|>(?!=)|(?<!\|)\|(?!\|)|\|{3}/;

const TOKEN =
  /"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\|\||&&|>>|>=|\+\+|--|[-+*%^!=<>~?:,;(){}[\]$|\n]/y;
const BLANK = /(?:[ \t]|#[^\n]*)*/y;
const PATTERN = /\/(?!=)((?:[^/\\\n]|\\.)*)\//y;

/** After these signs, `/` begins a pattern. */
const BEFORE_PATTERN: readonly unknown[] = ["\n", "{", "}", ";", ",", "(", "!", "~", "&&", "||"];
/** After these names, `/` may begin a pattern or divide. */
const NO_OPERAND = createWordSet(`
  BEGIN BEGINFILE END ENDFILE func function if else while for do switch case default break continue next
  nextfile exit return delete in print printf atan2 cos sin exp log sqrt int rand srand length substr index
  split match sub gsub sprintf tolower toupper`);
/** The closing parenthesis after the condition of a statement. */
const STATEMENT_START = "then";

/** Whether an AWK program may write, start another program or read a file that its arguments do not name. */
export function hasOutsideEffects(program: string): boolean {
  const tokens = program.includes("\\\n") ? null : tokenize(program);
  if (tokens === null) return MAYBE_OUTWARD.test(program);
  let isPrinting = false;
  let depth = 0;
  let last = "";
  for (const token of tokens) {
    if (OUTWARD_NAME.test(token)) return true;
    // `>` writes only after `print` and outside parentheses; everywhere else it compares.
    if (isPrinting && depth <= 0 && /^>>?$/.test(token)) return true;
    if (/^printf?$/.test(token)) [isPrinting, depth] = [true, 0];
    else if (token === "(") depth += 1;
    else if (token === ")") depth -= 1;
    else if (/^[;}]$/.test(token) || (token === "\n" && depth <= 0 && endsStatement(last)))
      isPrinting = false;
    last = token;
  }
  return false;
}

function endsStatement(token: string): boolean {
  return isOperand(token) || /^(?:printf?|\/\/|\+\+|--)$/.test(token);
}

function isOperand(token: string): boolean {
  return /^(?:[\w.]+|""|[)\]])$/.test(token) && token !== STATEMENT_START && !NO_OPERAND.has(token);
}

/**
 * Splits an AWK program into tokens, with `""` for strings and `//` for patterns. null where another AWK might read it
 * differently.
 */
function tokenize(program: string): string[] | null {
  const tokens: string[] = [];
  /** For each open parenthesis, what closes it. */
  const closing: string[] = [];
  for (let at = matchAtIndex(BLANK, program, 0).length; at < program.length; ) {
    const last = tokens.at(-1) ?? "\n";
    const text =
      program[at] === "/"
        ? readSlash(program, at, { last, isInside: closing.length > 0 })
        : matchAtIndex(TOKEN, program, at);
    if (text === "") return null;
    if (text === "(") closing.push(/^(?:if|while|for|switch)$/.test(last) ? STATEMENT_START : ")");
    const [first = ""] = text;
    if (text === ")") tokens.push(closing.pop() ?? ")");
    else tokens.push(/["/]/.test(first) && text.length > 1 ? first + first : text);
    at += text.length;
    at += matchAtIndex(BLANK, program, at).length;
  }
  return tokens;
}

function matchAtIndex(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** Returns the pattern that begins here, or `/` if it divides; empty if that is uncertain. */
function readSlash(
  program: string,
  at: number,
  { last, isInside }: { last: string; isInside: boolean },
): string {
  if (isOperand(last)) return "/";
  if (!BEFORE_PATTERN.includes(last) || (last === "\n" && isInside)) return "";
  const pattern = matchAtIndex(PATTERN, program, at);
  // Some AWKs do not end a pattern inside of brackets.
  const unescaped = pattern.replace(/\\./g, "");
  const isOdd =
    /\[\^?\]/.test(unescaped) || unescaped.replace(/\[(?:\[:\w+:\]|[^[\]])+\]/g, "").includes("[");
  return isOdd ? "" : pattern;
}
