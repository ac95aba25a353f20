import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findWrittenComments, findWrittenTexts } from "./syntax.ts";

/** Words that readers may misunderstand, the usual words for them, and a sentence that each pattern must match. */
export const STRANGE_WORDS: readonly {
  readonly pattern: RegExp;
  readonly plain: string;
  readonly found: string;
}[] = [
  { pattern: /\bpersons?\b/i, plain: "user", found: "the person said no" },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, plain: "fix", found: "Mend it, or move it away" },
  { pattern: /(?<!-)\bblanks\b/i, plain: "spaces", found: "blanks at the end" },
  { pattern: /\bshall\b/i, plain: "must, should or will", found: "All that the file shall hold" },
  { pattern: /\bheed(?:s|ed|ing)?\b/i, plain: "respond to, follow", found: "a hint is heeded" },
  { pattern: /\btold of\b/i, plain: "listed, reported, told about", found: "each is told of once" },
  { pattern: /\bwants? no\b/i, plain: "does not require", found: "it wants no login" },
  { pattern: /\bwaits? for no\b/i, plain: "has no pending", found: "it waits for no answer" },
  { pattern: /\bin spite of\b/i, plain: "despite, after ignoring", found: "found in spite of" },
  {
    pattern: /\bcannot stand\b/i,
    plain: "cannot be combined, cannot be",
    found: "it cannot stand beside -p",
  },
  { pattern: /\banswered for\b/i, plain: "trusted or refused", found: "No folder was answered for" },
  { pattern: /\bis too much\b/i, plain: "is more than the limit of", found: "9 MB is too much" },
  { pattern: /\bof its own accord\b/i, plain: "by itself", found: "ended of its own accord" },
  { pattern: /\bnobody is here\b/i, plain: "nobody can be asked", found: "nobody is here to give it" },
  { pattern: /\bthere again\b/i, plain: "redo, restore", found: "Again burin undo puts it there again" },
  { pattern: /\bthis very\b/i, plain: "this exact", found: "This very call has failed" },
  { pattern: /\bmore than nothing\b/i, plain: "greater than 0", found: "it must be more than nothing" },
  { pattern: /\bamid\b/i, plain: "in the middle of", found: "it begins amid a line" },
  { pattern: /\banew\b/i, plain: "again", found: "read anew for each call" },
  { pattern: /\bwhoever\b/i, plain: "the caller, the user, ...", found: "for whoever calls it" },
  { pattern: /\bcome to an end\b/i, plain: "finish, end", found: "time is short: come to an end" },
  { pattern: /\bsaid to be\b/i, plain: "reported as", found: "a damaged file is said to be so" },
  {
    pattern: /(?<!\bthere )\bis no (?!longer\b|more\b|better\b)[a-z]+/i,
    plain: "is not a ...",
    found: "x is no setting",
  },
];

const TEXTS_FOR_PEOPLE = /^(?:docs\/.*\.md|(?:README|AGENTS|CONTRIBUTING)\.md|packages\/[^/]+\/README\.md)$/;
const PACKAGE_CODE = /^packages\/[^/]+\/src\//;
const WORDS = /[A-Za-z]{2,} [A-Za-z]{2,}/;

/** Checks that texts for users and models, and comments, are in everyday technical English. */
export function checkPlainWords(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    const texts = findTexts(path, text);
    if (texts === null) continue;
    looked += 1;
    for (const { line, text: words } of texts) {
      if (!WORDS.test(words)) continue;
      for (const { pattern, plain } of STRANGE_WORDS) {
        const strange = pattern.exec(words)?.[0];
        if (strange !== undefined) violations.push(`${path}:${line} says "${strange}": say ${plain}`);
      }
    }
  }
  return { looked, violations };
}

function findTexts(path: string, text: string): { readonly line: number; readonly text: string }[] | null {
  if (TEXTS_FOR_PEOPLE.test(path))
    return text.split("\n").map((words, index) => ({ line: index + 1, text: words }));
  if (!PACKAGE_CODE.test(path) || !isCode(path) || isTest(path)) return null;
  return [...findWrittenTexts(path, text), ...findWrittenComments(path, text)];
}
