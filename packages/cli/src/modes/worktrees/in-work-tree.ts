import { randomBytes } from "node:crypto";
import {
  isTreeName,
  openTrust,
  readFolderTrust,
  resolveBurinHome,
  type WorkTree,
  workTrees,
} from "@burin/core/internal";
import { type CommonOptions, readSettings } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import { type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { formatCount, formatNote } from "../../terminal/output.ts";

/**
 * Runs a session in the work tree that the options name, and removes the work tree afterwards if nothing would be lost.
 */
export async function runInWorkTree<Asked extends { readonly options: CommonOptions }>(
  request: Asked,
  io: Io,
  work: (request: Asked, io: Io) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { options: given } = request;
  const { output } = io;
  const place = { home: resolveBurinHome(process.env), root: given.root, environment: process.env };
  const { tree, isNew, uncommitted } = await openWorkTreeFromOptions(given);
  const printNote = (text: string) => {
    if (!given.isQuiet && given.outputFormat === "text") output.note(formatNote(text));
  };
  printNote(`${isNew ? "a new work tree" : "the work tree"} ${tree.name}: ${tree.root}`);
  if (isNew && uncommitted > 0)
    printNote(
      `${formatCount(uncommitted, "file")} that you have not committed ${uncommitted === 1 ? "is" : "are"} not in it.`,
    );
  try {
    return await work({ ...request, options: { ...given, root: tree.root, isRootNamed: true } }, io);
  } finally {
    const isNeeded = await workTrees.isInUse(place.home, tree);
    if (!isNeeded && (await workTrees.canRemove(place, tree))) {
      await workTrees.remove(place, tree);
      printNote(`the work tree ${tree.name} had nothing to keep, and is removed.`);
    } else
      printNote(
        `the work tree ${tree.name} is kept: burin -w ${tree.name} goes on, burin worktrees merge ${tree.name} brings it back.`,
      );
  }
}

/** Opens the work tree. The project's settings count there as far as they are trusted here. */
export async function openWorkTreeFromOptions(options: CommonOptions) {
  const home = resolveBurinHome(process.env);
  const { workTree = "" } = options;
  const { settings } = await readSettings(options);
  const name = workTree === "" ? createTreeName() : workTree;
  if (!isTreeName(name))
    throw new UsageError(`a work tree's name has letters, digits, dots and hyphens, unlike "${name}".`);
  const place = { home, root: options.root, environment: process.env };
  const opened = await workTrees.open(place, name, settings.workTrees.copy);
  await copyTrustToTree(home, opened.tree);
  return opened;
}

export function createTreeName(): string {
  return `${new Date().toISOString().slice(5, 10)}-${randomBytes(2).toString("hex")}`;
}

/**
 * Trusts the work tree like the project, as far as its settings would run the same; the user is asked about other
 * effects.
 */
async function copyTrustToTree(home: string, { mainRoot, root }: WorkTree): Promise<void> {
  const [here, there] = await Promise.all(
    [mainRoot, root].map((one) => readFolderTrust({ home, root: one })),
  );
  if (here?.state !== "trusted" || there?.state !== "untrusted") return;
  await (await openTrust(home)).storeAnswer(root, true, here.effects);
}
