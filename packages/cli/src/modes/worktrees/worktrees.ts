import {
  resolveBurinHome,
  type TreeChange,
  type TreeRemains,
  type WorkTree,
  type WorkTreeLocation,
  workTrees,
} from "@burin/core/internal";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { formatCount, joinLines, type Output, printFindings, visible } from "../../terminal/output.ts";

/** Lists work trees, merges the changes of one, or removes some. */
export async function run(request: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const { words, options } = request;
  const place = { home: resolveBurinHome(process.env), root: options.root, environment: process.env };
  const [action = "list", name, ...more] = words;
  if (action === "list" && name === undefined) {
    const all = await Promise.all((await workTrees.list(place)).map((tree) => readTreeState(place, tree)));
    const remains = await workTrees.remains(place);
    const rows = [...all.map(formatTree), ...remains.map(formatRemains)];
    const none = "There is no work tree; burin -w makes one.";
    const document = [...all, ...remains.map((one) => ({ ...one, isWhole: false }))];
    printFindings(output, options.outputFormat, { document, rows: rows.length === 0 ? [none] : rows });
    return EXIT.done;
  }
  if (name === undefined || !["merge", "rm"].includes(action))
    throw new UsageError(
      "write burin worktrees, burin worktrees merge NAME [FILE...], or burin worktrees rm NAME.",
    );
  const known = await workTrees.list(place);
  if (action === "rm") {
    const remains = await workTrees.remains(place);
    const trees = [name, ...more].map(
      (one) => remains.find((left) => left.name === one) ?? findTreeOrThrow(known, one),
    );
    await removeTrees(place, trees, { isForced: options.approvalMode === "yolo", output });
    return EXIT.done;
  }
  return mergeAndReport({ place, tree: findTreeOrThrow(known, name), files: more, request }, output);
}

/** Removes all of them, or none if changes in one of them would be lost. */
export async function removeTrees(
  place: WorkTreeLocation,
  trees: readonly (WorkTree | TreeRemains)[],
  { isForced, output }: { readonly isForced: boolean; readonly output: Pick<Output, "out"> },
): Promise<void> {
  for (const tree of trees) await assertRemovable(place, tree, isForced);
  for (const tree of trees) await workTrees.remove(place, tree);
  output.out(joinLines(...trees.map((tree) => `removed  ${tree.name}`)));
}

interface Merging {
  readonly place: WorkTreeLocation;
  readonly tree: WorkTree;
  /** The files to merge, relative to the top of the repository. If empty, all files. */
  readonly files: readonly string[];
  readonly request: Pick<SubcommandRequest, "options" | "subcommandOptions">;
}

/** Merges what has no conflicts, and prints what was left alone. */
export async function mergeAndReport(
  { place, tree, files, request: { options, subcommandOptions } }: Merging,
  output: Output,
): Promise<ExitCode> {
  const side = subcommandOptions.theirs === true ? "theirs" : subcommandOptions.ours === true ? "ours" : null;
  const merged = await mergeTree(place, tree, { files, side });
  const rows = [
    ...merged.taken.map((file) => `merged      ${file}`),
    ...merged.left.map((file) => `left alone  ${file}: both sides changed the same`),
  ];
  printFindings(output, options.outputFormat, { document: merged, rows });
  if (rows.length === 0) output.note("burin: there is nothing to merge.");
  else if (merged.left.length === 0) output.note("burin: merged. burin undo takes it back.");
  else
    output.note(
      `burin: take what is left in the app (burin, then /merge ${tree.name}), or with --theirs or --ours.`,
    );
  return merged.left.length > 0 ? EXIT.failed : EXIT.done;
}

interface Standing extends Pick<WorkTree, "name" | "root"> {
  readonly changed: number;
  readonly isInUse: boolean;
  /** true if nothing would be lost if the work tree were removed. */
  readonly isMerged: boolean;
}

async function readTreeState(place: WorkTreeLocation, tree: WorkTree): Promise<Standing> {
  const { name, root } = tree;
  const changed = (await workTrees.changes(place, tree)).length;
  const isInUse = await workTrees.isInUse(place.home, tree);
  return { name, root, changed, isInUse, isMerged: await workTrees.canRemove(place, tree) };
}

function formatTree({ name, root, changed, isInUse, isMerged }: Standing): string {
  const use = isInUse ? ", in use" : "";
  const state = isMerged ? "nothing to merge" : `${formatCount(changed, "file")} to merge`;
  return `${name.padEnd(16)}  ${state}${use}  ${visible(root)}`;
}

function formatRemains(remains: TreeRemains): string {
  const { name, hasFiles } = remains;
  const again = hasFiles ? "" : `burin -w ${name} makes it again, `;
  return `${name.padEnd(16)}  ${visible(describeRemains(remains))}; ${again}burin worktrees rm ${name} removes it`;
}

function describeRemains({ name, folder, hasFiles, hasCommits }: TreeRemains): string {
  const parts = [
    ...(hasFiles ? [`files in ${folder}`] : []),
    ...(hasCommits ? [`commits on the branch burin/${name} that are on no other`] : []),
  ];
  return `not a whole work tree: ${parts.length === 0 ? "nothing to keep" : parts.join(" and ")}`;
}

function findTreeOrThrow(all: readonly WorkTree[], name: string): WorkTree {
  const tree = all.find((one) => one.name === name);
  if (tree !== undefined) return tree;
  const known = all.map((one) => one.name).join(", ");
  throw new UsageError(
    `there is no work tree ${name}; ${known === "" ? "there is none" : `there are: ${known}`}.`,
  );
}

async function assertRemovable(
  place: WorkTreeLocation,
  tree: WorkTree | TreeRemains,
  isForced: boolean,
): Promise<void> {
  if ("hasFiles" in tree) {
    if (!isForced && (tree.hasFiles || tree.hasCommits))
      throw new UsageError(`${tree.name} is ${describeRemains(tree)}; --yes removes it all the same.`);
    return;
  }
  if (await workTrees.isInUse(place.home, tree))
    throw new UsageError(`a session works in the work tree ${tree.name}.`);
  if (!isForced && !(await workTrees.canRemove(place, tree)))
    throw new UsageError(
      `the work tree ${tree.name} has changes that were not merged; --yes removes it all the same.`,
    );
}

interface MergeChoice {
  /** Relative to the top of the repository; all when empty. */
  readonly files: readonly string[];
  /** Whose version to use where both sides changed the same place; null leaves such files alone. */
  readonly side: "theirs" | "ours" | null;
}

/** Merges what has no conflicts. */
async function mergeTree(place: WorkTreeLocation, tree: WorkTree, { files, side }: MergeChoice) {
  const all = await workTrees.changes(place, tree);
  const unknown = files.filter((file) => !all.some((change) => change.file === file));
  if (unknown.length > 0)
    throw new UsageError(`the work tree ${tree.name} has no change of: ${unknown.join(", ")}.`);
  const chosen = files.length === 0 ? all : all.filter(({ file }) => files.includes(file));
  const [free, hard] = [chosen.filter((one) => !one.conflict), chosen.filter((one) => one.conflict)];
  const theirs = side === "theirs" ? hard.map((change) => workTrees.theirs(place, tree, change)) : [];
  const taken = [...free, ...(await Promise.all(theirs))].map((change: TreeChange) => ({ change }));
  if (taken.length > 0) await workTrees.take(place, tree, taken);
  const left = side === null ? hard.map(({ file }) => file) : [];
  if (files.length === 0 && left.length === 0) await workTrees.noteMerged(place, tree);
  return { taken: taken.map(({ change }) => change.file), left };
}
