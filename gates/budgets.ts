import { posix } from "node:path";
import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findModuleUses, type ModuleUse } from "./syntax.ts";

/** The most lines of each package, without tests. It falls with the code; the commit that raises one must say why. */
const MAX_LINES: Readonly<Record<string, number>> = {
  contract: 4380, // a third is the linear pattern matcher
  "edit-match": 3030,
  "shell-judge": 7970, // two fifths are tables of programs
  net: 810,
  files: 8010, // a fifth is search
  commands: 11040, // sandbox and git are the half
  models: 7140, // protocols and requests 2,380, failures and replies 1,500
  testing: 1530,
  web: 1920, // half is HTML to Markdown
  mcp: 2860,
  core: 21410, // session 3,090, agent 2,760, tools 2,510, assembly 2,160
  serve: 2460,
  fleet: 4980,
  cli: 18820, // the app is more than half
};
/** A limit that is more than this share above the real number must be lowered, or the code could grow unnoticed. */
const SLACK = 0.03;

/** A file with fewer lines than this, and with only one importer, which loads it at once, belongs in that importer. */
const SMALL = 40;
const MAX_SMALL_FILES = 2;

const PACKAGE_CODE = /^packages\/([^/]+)\/src\//;

/** Checks that no package has more lines than its limit, and that each limit is lowered when the package shrinks. */
export function checkLineBudgets(files: Files, mostLines = MAX_LINES): Verdict {
  const lines = new Map(Object.keys(mostLines).map((name) => [name, 0]));
  let looked = 0;
  for (const [path, text] of listPackageCode(files)) {
    const [, name = ""] = PACKAGE_CODE.exec(path) ?? [];
    lines.set(name, (lines.get(name) ?? 0) + countLines(text));
    looked += 1;
  }
  const violations = [...lines].flatMap(([name, count]) => {
    const fault = findBudgetFault(count, mostLines[name]);
    return fault === null ? [] : [`packages/${name} has ${count} lines: ${fault}`];
  });
  return { looked, violations };
}

function findBudgetFault(count: number, most: number | undefined): string | null {
  if (most === undefined) return "it has no number in gates/budgets.ts";
  if (count > most) return `more than the ${most} of gates/budgets.ts`;
  return count * (1 + SLACK) < most ? `lower the ${most} of gates/budgets.ts to that` : null;
}

/** Counts files that were split off only because of their size. Their number may only fall. */
export function checkSmallFiles(files: Files, most = MAX_SMALL_FILES): Verdict {
  const importers = findImporters(files);
  const small: string[] = [];
  for (const [path, text] of listPackageCode(files)) {
    const users = importers.get(path) ?? [];
    const [first] = users;
    const isOneUser = users.every(({ path: user }) => user === first?.path);
    if (first === undefined || !isOneUser || users.some(({ isLate }) => isLate)) continue;
    if (isJoinable(path, first.path) && countLines(text) < SMALL)
      small.push(`${path} has ${countLines(text)} lines and only ${first.path} uses it`);
  }
  const looked = importers.size;
  if (small.length > most) {
    const head = `${small.length} files of fewer than ${SMALL} lines have one importer, more than the ${most} of gates/budgets.ts: join one with its importer`;
    return { looked, violations: [head, ...small] };
  }
  const isBehind = small.length * (1 + SLACK) + 1 < most;
  const lower = `${small.length} files of fewer than ${SMALL} lines have one importer: lower the ${most} of gates/budgets.ts to that`;
  return { looked, violations: isBehind ? [lower] : [] };
}

/** Whether the file could be part of its importer. What a package offers to others stays a separate file. */
function isJoinable(path: string, user: string): boolean {
  const isDoor = /\/src\/(?:index|adapters|internal|machine|sessions|testing)\.ts$/.test(user);
  return !isDoor && PACKAGE_CODE.exec(path)?.[1] === PACKAGE_CODE.exec(user)?.[1];
}

interface User {
  readonly path: string;
  readonly isLate: boolean;
}

/** Finds who imports each package file, from the same package or another. */
function findImporters(files: Files): Map<string, User[]> {
  const importers = new Map<string, User[]>();
  const add = (path: string, user: User) => importers.set(path, [...(importers.get(path) ?? []), user]);
  for (const [path, text] of listPackageCode(files)) {
    for (const use of findModuleUses(path, text)) {
      const target = resolveTarget(path, use, files);
      if (target !== null) add(target, { path, isLate: use.isLate });
    }
  }
  return importers;
}

function resolveTarget(path: string, { specifier }: ModuleUse, files: Files): string | null {
  if (specifier === null) return null;
  if (specifier.startsWith(".")) return posix.join(posix.dirname(path), specifier);
  const [, name = "", below = "index"] = /^@burin\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  const target = `packages/${name}/src/${below}.ts`;
  return files.has(target) ? target : null;
}

function listPackageCode(files: Files): [string, string][] {
  return [...files].filter(([path]) => PACKAGE_CODE.test(path) && isCode(path) && !isTest(path));
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
