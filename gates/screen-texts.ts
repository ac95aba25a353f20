import type { Files, Verdict } from "./repository-files.ts";
import { findWrittenTexts } from "./syntax.ts";

const ROOMS = ["packages/cli/src/ui/", "packages/cli/src/commands/", "packages/cli/src/modes/interactive/"];
/** Files whose texts nobody reads on the screen, or that runs without a screen use as well. */
const OTHER_READERS = new Set([
  "packages/cli/src/commands/words-for-models.ts",
  "packages/cli/src/commands/at-files.ts",
  "packages/cli/src/commands/slash-commands.ts",
  "packages/cli/src/ui/highlight.ts",
  "packages/cli/src/ui/key-list.ts",
]);
/** English is code, because its keys form a type. The other languages are data. */
const LOCALES = /^packages\/cli\/src\/locales\/(en(?=(?:-[a-z]+)?\.ts)|[a-z]{2}(?=\.json))[\w.-]+$/;
const ENTRY = /^ {2}"([A-Za-z]+\.[A-Za-z_.-]+)":\s*(?:\n\s*)?"((?:[^"\\]|\\.)*)"/gm;
/** Matches text for a browser. */
const MARKUP = /[<{]/;
const WORDS = /[A-Za-z]{2,} [A-Za-z]{2,}/;

/** Checks that all texts of the screen are in the locales, and that all languages have them with the same values. */
export function checkScreenTexts(files: Files): Verdict {
  const violations: string[] = [];
  const languages = new Map<string, Map<string, string>>();
  let looked = 0;
  for (const [path, text] of files) {
    const language = LOCALES.exec(path)?.[1];
    const entries = language === undefined ? null : readEntries(text);
    if (language !== undefined && entries !== null && entries.size > 0)
      languages.set(language, new Map([...(languages.get(language) ?? []), ...entries]));
    if (!ROOMS.some((room) => path.startsWith(room)) || OTHER_READERS.has(path) || path.includes(".test."))
      continue;
    looked += 1;
    for (const { line, text: words } of findWrittenTexts(path, text)) {
      if (!WORDS.test(words) || MARKUP.test(words)) continue;
      violations.push(
        `${path}:${line} says ${JSON.stringify(words)}: a text of the screen belongs in locales/`,
      );
    }
  }
  const english = languages.get("en") ?? new Map<string, string>();
  for (const [language, entries] of languages)
    violations.push(...listDifferences(language, entries, english));
  return { looked: looked + languages.size, violations };
}

function readEntries(text: string): Map<string, string> {
  return new Map([...text.matchAll(ENTRY)].map(([, key = "", value = ""]) => [key, value]));
}

function listDifferences(
  language: string,
  entries: Map<string, string>,
  english: Map<string, string>,
): string[] {
  const path = `packages/cli/src/locales/${language}.json:1`;
  const missing = [...english.keys()].filter((key) => !entries.has(key));
  const more = [...entries.keys()].filter((key) => !english.has(key));
  const other = [...entries].filter(
    ([key, value]) => english.has(key) && listValues(value) !== listValues(english.get(key) ?? ""),
  );
  return [
    ...missing.map((key) => `${path} has no text for ${key}`),
    ...more.map((key) => `${path} has a text for ${key}, which English does not have`),
    ...other.map(([key]) => `${path} does not have the values of the English text for ${key}`),
  ];
}

function listValues(text: string): string {
  return (text.match(/\{\w+\}/g) ?? []).sort().join(" ");
}
