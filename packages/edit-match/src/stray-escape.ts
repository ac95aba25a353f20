import type { EditRequest, Replacement } from "./edit.ts";
import { isBlank } from "./lines.ts";
import { applyReplacements } from "./write.ts";

/** Where a language may have a backslash. Anywhere else, its text has none before these letters and signs. */
interface Language {
  readonly endings: string;
  readonly tokens: readonly string[];
  /** Whether its template strings may contain code, which may contain template strings. */
  readonly hasTemplates?: true;
}

const SLASHES = String.raw`\/\/.*|\/\*[^]*?(?:\*\/|$)`;
/** A string that is not closed ends with its line. */
const QUOTED = String.raw`"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?`;
const TRIPLE = `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)`;
const BACKTICKS = "`(?:\\\\[^]|[^`\\\\])*(?:`|$)";
/** A slash after a value is a division; after anything else it begins a regular expression. */
const PATTERN = String.raw`\/(?<=(?:^|[(,=:[!&|?{};+>]|\b(?:return|case|typeof))\s{0,20}\/)(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/`;
const RAW = String.raw`\bR"([^\s()\\]*)\([^]*?\)\1"|@"(?:[^"]|"")*"`;
const RUST = String.raw`\br(#*)"[^]*?"\1|"(?:\\[^]|[^"\\])*(?:"|$)|'(?:\\[^\n']*.|[^'\\\n])'`;

const LANGUAGES: readonly Language[] = [
  {
    endings: "js mjs cjs jsx ts mts cts tsx",
    tokens: [SLASHES, PATTERN, QUOTED, "[`{}]"],
    hasTemplates: true,
  },
  { endings: "java kt kts scala swift dart go", tokens: [SLASHES, TRIPLE, BACKTICKS, QUOTED] },
  { endings: "c h cc cpp cxx hpp hh hxx m mm cs", tokens: [SLASHES, RAW, TRIPLE, QUOTED] },
  { endings: "rs", tokens: [SLASHES, RUST] },
  { endings: "py pyi toml", tokens: ["#.*", TRIPLE, QUOTED] },
  { endings: "json jsonc json5", tokens: [SLASHES, QUOTED] },
  { endings: "css scss less", tokens: [SLASHES, QUOTED] },
];

const ESCAPES: readonly string[] = ["\\n", "\\t", '\\"'];
const STRAY = String.raw`\\[nt"]`;

/** Finds a JSON escape that only the new text has, and that the file's language has only in strings. */
export function findStrayEscape(
  request: EditRequest,
  replacements: readonly Replacement[],
): string | undefined {
  const { oldText, newText, fileName = "" } = request;
  const fresh = ESCAPES.filter((sign) => newText.includes(sign) && !oldText.includes(sign));
  if (fresh.length === 0) return undefined;
  const ending = /\.(\w+)$/.exec(fileName)?.[1]?.toLowerCase() ?? "";
  const language = LANGUAGES.find(({ endings }) => endings.split(" ").includes(ending));
  // Inside a string, one line may be a part of another by chance.
  if (joinsLines(request, language === undefined ? 1 : 2)) return "\\n";
  const outside = language && findOutsideStrings(request, replacements, language);
  return fresh.find((sign) => outside?.has(sign));
}

/** Finds the escapes in the replacements that are not in a string, pattern or comment. */
function findOutsideStrings(
  { content }: EditRequest,
  replacements: readonly Replacement[],
  language: Language,
): Set<string> {
  let shift = 0;
  const written = replacements.map(({ start, end, text }) => {
    const from = start + shift;
    shift += text.length - (end - start);
    return { from, to: from + text.length };
  });
  const end = written.at(-1)?.to ?? 0;
  const found = new Set<string>();
  for (const { index, 0: token } of readTokens(applyReplacements(content, replacements), language)) {
    if (index >= end) break;
    const isWritten = written.some(({ from, to }) => index >= from && index < to);
    if (isWritten && ESCAPES.includes(token)) found.add(token);
  }
  return found;
}

function* readTokens(text: string, { tokens, hasTemplates }: Language): Generator<RegExpExecArray> {
  // Escapes come last: a character that begins a string is not an escape.
  const next = new RegExp([...tokens, STRAY].join("|"), "g");
  /** Matches the rest of a template up to its end, or to code in it. */
  const template = /(?:\\[\s\S]|[^`\\$]|\$(?!\{))*(?:`|\$\{|$)/y;
  /** The number of open brackets in the code of each open template. */
  const open: number[] = [];
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    yield found;
    const [token] = found;
    const isBack = token === "}" && open.at(-1) === 0;
    if (isBack) open.pop();
    else if (open.length > 0 && /^[{}]$/.test(token)) open.push((open.pop() ?? 0) + (token === "{" ? 1 : -1));
    if (hasTemplates !== true || !(isBack || token === "`")) continue;
    template.lastIndex = next.lastIndex;
    if (template.exec(text)?.[0].endsWith("${") === true) open.push(0);
    next.lastIndex = template.lastIndex;
  }
}

/**
 * Whether at least this many lines of the file are kept if `\n` means a line end, and lost if it does not. In a file
 * that contains `\n` itself, a single line proves little.
 */
function joinsLines({ content, oldText, newText }: EditRequest, min: number): boolean {
  if (!newText.includes("\\n") || oldText.includes("\\n")) return false;
  const [lines, meant] = [newText, replaceEscapes(newText)].map((text) => new Set(text.split("\n")));
  const whole = new Set(content.split(/\r?\n/));
  const isJoined = (line: string) =>
    whole.has(line) && meant?.has(line) === true && lines?.has(line) === false;
  const joined = oldText.split(/\r?\n/).filter((line) => !isBlank(line) && isJoined(line));
  return joined.length >= (/\\[a-z]/.test(content) ? 2 : min);
}

function replaceEscapes(text: string): string {
  return text.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll('\\"', '"');
}
