import { membersOf, type PublicName, publicNamesOf } from "./library-doors.ts";
import type { Files, Verdict } from "./repository-files.ts";

/** Lists each name that others can import, with its entry point; types are marked. It changes only on purpose. */
export const NAMES_FILE = "packages/core/public-names.txt";
/** The entry point that a newcomer sees first. */
const MAIN_DOOR = "@burin/core";
const MAX_NAMES = 70;

export function checkPublicNames(files: Files): Verdict {
  const names = publicNamesOf(files);
  const found = names.map(lineOf).sort();
  const listed = (files.get(NAMES_FILE) ?? "").split("\n").filter((line) => line !== "");
  const added = found.filter((line) => !listed.includes(line));
  const gone = listed.filter((line) => !found.includes(line));
  const current = names.filter(({ door, isDeprecated }) => door === MAIN_DOOR && !isDeprecated);
  const violations = [
    ...added.map(
      (line) => `${NAMES_FILE}:1 does not list "${line}": others will rely on it, add it on purpose`,
    ),
    ...gone.map(
      (line) => `${NAMES_FILE}:1 lists "${line}", which is gone: others may use it, keep it one version`,
    ),
    ...(current.length > MAX_NAMES
      ? [`packages/core/src/index.ts:1 has ${current.length} names, more than ${MAX_NAMES}`]
      : []),
  ];
  return { looked: found.length, violations: [...violations, ...internalShown(files)] };
}

/** Finds internal entry points in docs and examples: readers copy these, and internals may change in any version. */
function internalShown(files: Files): string[] {
  return [...files].flatMap(([path, text]) => {
    if (!/^(?:docs|examples)\/|(?:^|\/)README\.md$/.test(path)) return [];
    return text
      .split("\n")
      .flatMap((line, index) =>
        /(?:from|import|require)[ (]*["']@burin\/core\/internal/.test(line)
          ? [`${path}:${index + 1} shows @burin/core/internal, which only Burin may use`]
          : [],
      );
  });
}

function lineOf({ door, name, isType, isDeprecated }: PublicName): string {
  return [door, ...(isDeprecated ? ["deprecated"] : []), ...(isType ? ["type"] : []), name].join(" ");
}

/** The types whose members somebody writes: each member says what it does. */
const WRITTEN = /(?:Options|Definition|Fields)$/;
/** Fewer words than this say no more than the name. */
const FEWEST_WORDS = 4;

/** Who meets a name in an editor reads there what it is. */
export function publicComments(files: Files): Verdict {
  const names = publicNamesOf(files).filter(({ isDeprecated }) => !isDeprecated);
  const violations = names.flatMap(({ door, name, declaration }) => {
    if (declaration === null)
      return [`${NAMES_FILE}:1 names "${name}" of ${door}, which is declared nowhere`];
    const members = WRITTEN.test(name) ? membersOf(files, declaration) : [];
    const silent = [
      ...(says(declaration.comment) ? [] : [name]),
      ...members.filter(({ comment }) => !says(comment)).map((member) => `${name}.${member.name}`),
    ];
    return silent.map(
      (one) => `${declaration.path}:1 does not say what ${one} is: write a comment before it`,
    );
  });
  return { looked: names.length, violations: [...new Set(violations)] };
}

function says(comment: string): boolean {
  return comment.split(/\s+/).length >= FEWEST_WORDS;
}
