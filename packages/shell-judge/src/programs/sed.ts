import {
  createLaunchFinding,
  type Finding,
  judgePath,
  judgeScriptWord,
  type ProgramReader,
} from "./finding.ts";
import { readOptions } from "./options.ts";

const OPTIONS = {
  flags: "nErsuz",
  texts: "e",
  long: "quiet silent regexp-extended expression=~ separate unbuffered null-data posix line-length= debug",
};

/** Judges `sed`: it only reads and prints, unless its script or an option can write or start something. */
export const sed: ProgramReader = (words, reach) => {
  const read = readOptions(words, OPTIONS, reach);
  const given = read.options.filter(({ name }) => name === "-e" || name === "--expression");
  const scripts = given.length > 0 ? given : read.operands.slice(0, 1);
  const files = read.operands.slice(given.length > 0 ? 0 : 1);
  const script = scripts.map(({ value = "" }) => value).join("\n");
  const last = scripts.at(-1)?.index ?? 0;
  const places = [...scripts, ...read.options].map(({ index }) => ({ word: words[index], index }));
  const findings: Finding[] = [
    ...read.findings,
    ...places.flatMap(({ word, index }) => (word === undefined ? [] : judgeScriptWord(word, index))),
  ];
  if (!isHarmlessScript(script)) {
    findings.push(
      createLaunchFinding("the script of `sed` may write, read another file or start a program", last),
    );
  }
  return [...findings, ...files.flatMap((file) => judgePath(file, file.index, reach))];
};

/**
 * Matches a bracket expression. Versions of sed disagree about where some end, and thus where the pattern ends: such a
 * one does not match.
 */
const BRACKET = (mark: string) => {
  const named = mark === ":" ? "" : String.raw`\[:[a-z]+:\]|`;
  return String.raw`\[(?!\^?\])(?:${named}[^\][${mark}\\\n])+\]`;
};
/** Matches the address of a command; commands follow each other directly. */
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n[]|\\.|${BRACKET("/")})*/[IM]*)`;
const RANGE = String.raw`(?:${ADDRESS}(?:\s*,\s*(?:${ADDRESS}|[+~]\d+))?)?\s*!?\s*`;
const SECTION = (mark: string) => String.raw`(?:[^${mark}\\\n[]|\\[^\n]|${BRACKET(mark)})*`;
const REPLACEMENT = (mark: string) => String.raw`(?:[^${mark}\\\n]|\\[\s\S])*`;
const SUBSTITUTIONS = ["/", "|", "#", ",", ":", "@", "!", "%", "_", "+", "~"].map((mark) => {
  const escaped = `\\${mark}`.replace(/\\([_#,:@!%~])/, "$1");
  return `s${escaped}${SECTION(escaped)}${escaped}${REPLACEMENT(escaped)}${escaped}[gpiImM0-9]*`;
});
const TRANSLITERATION = String.raw`y/(?:[^/\\\n[]|\\.)*/(?:[^/\\\n[]|\\.)*/`;
const COMMAND = new RegExp(
  String.raw`[\s;]*${RANGE}(?:[{}]|(?:[pPdDnNgGhHxz=]|[qQl]\d*|${TRANSLITERATION}|${SUBSTITUTIONS.join("|")})\s*(?=[;}\n]|$))`,
  "y",
);
const REST = /[\s;]*$/y;

function isHarmlessScript(script: string): boolean {
  let at = 0;
  while (at < script.length) {
    REST.lastIndex = at;
    if (REST.test(script)) return true;
    COMMAND.lastIndex = at;
    if (!COMMAND.test(script)) return false;
    at = COMMAND.lastIndex;
  }
  return true;
}
