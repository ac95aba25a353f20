import {
  resolveBurinHome,
  type TreeChange,
  type WorkTree,
  type WorkTreeLocation,
  workTrees,
} from "@burin/core/internal";
import { readWholeNumber } from "../../request/read-values.ts";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { formatCount, joinLines, type Output, printFindings, shortenLine } from "../../terminal/output.ts";
import { type Attempt, chooseExitCode, readAttempt, runAttempts } from "./run-attempts.ts";
import { mergeAndReport, removeTrees } from "./worktrees.ts";

const USAGE =
  'write burin attempts N "prompt", burin attempts show N, burin attempts take N [FILE...], or burin attempts rm [N...].';
const MAX_PROMPT = 60;
const HINTS = [
  "burin attempts show N            what one has said and changed",
  "burin attempts take N [FILE...]  takes it, or files of it; /merge in the app takes parts",
  "burin attempts rm --yes          removes them",
];

/**
 * Works on a prompt several times in parallel, each time in a work tree of its own. The user then accepts the best
 * result.
 */
export async function run(request: SubcommandRequest, io: Io): Promise<ExitCode> {
  const { words, options } = request;
  const { output } = io;
  const place = { home: resolveBurinHome(process.env), root: options.root, environment: process.env };
  const [action, ...more] = words;
  if (action === undefined) {
    showAll(await listAttempts(place), request, output);
    return EXIT.done;
  }
  if (action === "rm") {
    const all = await listAttempts(place);
    const chosen = more.length === 0 ? findLastGroup(all) : more.map((name) => findAttempt(all, name));
    const isForced = options.approvalMode === "yolo";
    await removeTrees(
      place,
      chosen.map(({ tree }) => tree),
      { isForced, output },
    );
    return EXIT.done;
  }
  if (action === "show" || action === "take") {
    const [name, ...files] = more;
    if (name === undefined) throw new UsageError(USAGE);
    const found = findAttempt(await listAttempts(place), name);
    if (action === "take") return mergeAndReport({ place, tree: found.tree, files, request }, output);
    showOne(found, await workTrees.changes(place, found.tree), { format: options.outputFormat, output });
    return EXIT.done;
  }
  const { count, prompt, models } = parseAttemptRequest(words, options.model);
  const ended = await runAttempts({ place, count, prompt, models }, options, io);
  const numbers = new Map(ended.map((attempt) => [`${attempt.group}.${attempt.number}`, attempt]));
  showAll(
    (await listAttempts(place)).filter(({ tree }) => numbers.has(tree.name)),
    request,
    output,
  );
  return chooseExitCode(ended, io);
}

function parseAttemptRequest([first = "", ...more]: readonly string[], model: string | undefined) {
  const models = (model ?? "").split(",").filter((name) => name !== "");
  const isCounted = /^\d+$/.test(first);
  if (!isCounted && models.length < 2) throw new UsageError(USAGE);
  const count = isCounted ? readWholeNumber("the number of attempts", first) : models.length;
  const prompt = (isCounted ? more : [first, ...more]).join(" ");
  if (prompt.trim() === "") throw new UsageError(USAGE);
  return { count, prompt, models };
}

interface Found {
  readonly tree: WorkTree;
  readonly attempt: Attempt;
  readonly state: string;
  /** Whether nothing would be lost if the work tree were removed. */
  readonly isMerged: boolean;
}

/** Sorts attempts, the oldest first. */
async function listAttempts(location: WorkTreeLocation): Promise<Found[]> {
  const all = await Promise.all(
    (await workTrees.list(location)).map(async (tree): Promise<Found | []> => {
      const attempt = await readAttempt(tree);
      if (attempt === null) return [];
      const isInUse = await workTrees.isInUse(location.home, tree);
      const state = attempt.end?.status ?? (isInUse ? "running" : "interrupted");
      return { tree, attempt, state, isMerged: await workTrees.canRemove(location, tree) };
    }),
  );
  const buildSortKey = ({ attempt: { startedAt, number } }: Found) =>
    `${startedAt} ${String(number).padStart(3)}`;
  return all.flat().sort((one, other) => (buildSortKey(one) < buildSortKey(other) ? -1 : 1));
}

function findLastGroup(all: readonly Found[]): readonly Found[] {
  const group = all.at(-1)?.attempt.group;
  return all.filter(({ attempt }) => attempt.group === group);
}

/** Finds an attempt. A number refers to the attempts that were started last. */
function findAttempt(all: readonly Found[], name: string): Found {
  const found =
    all.find(({ tree }) => tree.name === name) ??
    findLastGroup(all).find(({ attempt }) => String(attempt.number) === name);
  if (found !== undefined) return found;
  const known = all.map(({ tree }) => tree.name).join(", ");
  throw new UsageError(
    `there is no attempt ${name}; ${known === "" ? "there is none" : `there are: ${known}`}.`,
  );
}

function showAll(all: readonly Found[], { options }: SubcommandRequest, output: Output): void {
  const document = all.map(({ tree: { name, root }, attempt, state, isMerged }) => {
    const { group, number, startedAt, prompt, model, end } = attempt;
    return { name, root, group, number, startedAt, prompt, model, ...end, status: state, isMerged };
  });
  const groups = new Set(all.map(({ attempt }) => attempt.group));
  const rows = [...groups].flatMap((group) => formatGroup(all.filter((one) => one.attempt.group === group)));
  const none = 'There is no attempt; burin attempts 3 "prompt" makes some.';
  printFindings(output, options.outputFormat, { document, rows: rows.length === 0 ? [none] : rows });
  if (rows.length === 0 || options.isQuiet || options.outputFormat !== "text") return;
  for (const hint of HINTS) output.note(output.styled("dim", hint));
}

function formatGroup(group: readonly Found[]): string[] {
  const cells = group.map(formatCells);
  const widths = HEAD.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const formatRow = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const { group: name = "", prompt = "" } = group[0]?.attempt ?? {};
  return [`${name}  ${shortenLine(prompt, MAX_PROMPT)}`, formatRow(HEAD), ...cells.map(formatRow)];
}

const HEAD = ["", "state", "check", "change", "time", "cost", "model"] as const;

function formatCells({ attempt: { number, model = "", end }, state, isMerged }: Found): string[] {
  const merged = isMerged && (end?.files ?? 0) > 0 ? `${state}, merged` : state;
  if (end === undefined) return [String(number), merged, "", "", "", "", model];
  const { check = "", files, added, removed, durationMs, cost, tokens } = end;
  const change = files === 0 ? "none" : `${formatCount(files, "file")} +${added} -${removed}`;
  const price = cost === undefined ? formatCount(tokens, "token") : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
  return [String(number), merged, check, change, `${(durationMs / 1000).toFixed(1)} s`, price, model];
}

/** Shows what the attempt has said, and what accepting it would change now. */
function showOne(
  { tree, attempt, state }: Found,
  changes: readonly TreeChange[],
  { format, output }: { readonly format: string; readonly output: Output },
): void {
  const files = changes.map(({ file, diff, merged, conflict }) => {
    const kind = merged === null ? "removes the file" : "replaces the whole file";
    return { file, diff: diff?.fileDiff ?? kind, ...(conflict && { conflict }) };
  });
  const { end } = attempt;
  const document = { name: tree.name, root: tree.root, ...attempt, status: state, files };
  if (format !== "text") printFindings(output, format, { document, rows: [] });
  else {
    output.out(joinLines(`${tree.name}  ${state}  ${tree.root}`));
    for (const text of [end?.error, end?.result]) if (text) output.content(`${text.trimEnd()}\n`);
    for (const { file, diff, conflict } of files) {
      output.out(joinLines(`${file}${conflict ? ": both sides changed the same" : ""}`));
      output.content(`${diff.trimEnd()}\n`);
    }
  }
}
