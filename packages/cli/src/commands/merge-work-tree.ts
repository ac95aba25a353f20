import {
  applyHunkParts,
  resolveBurinHome,
  type TakenChange,
  type WorkTree,
  type WorkTreePlace,
  workTrees,
} from "@burin/core/internal";
import { say } from "../locales/say.ts";
import { type FileChoice, MergePanel } from "../ui/merge-panel.ts";
import type { CommandDesk } from "./command-desk.ts";

/** Shows what the work tree of this session has changed, to be taken into the user's own files in parts. */
export async function mergeWorkTree(desk: CommandDesk): Promise<void> {
  const place = { home: resolveBurinHome(process.env), root: desk.options.root, environment: process.env };
  const tree = await workTrees.find(place);
  if (tree === null) return void desk.note(say("merge.noTree"));
  const changes = await workTrees.changes(place, tree);
  if (changes.length === 0) return void desk.note(say("merge.none"));
  const close = () => desk.show(null);
  const send = (choices: readonly FileChoice[]) => {
    close();
    void take(desk, { place, tree, choices }).catch((error: unknown) => desk.noteFault(error));
  };
  desk.show(new MergePanel({ changes, send, close }));
}

interface Merging {
  readonly place: WorkTreePlace;
  readonly tree: WorkTree;
  readonly choices: readonly FileChoice[];
}

async function take(desk: CommandDesk, { place, tree, choices }: Merging): Promise<void> {
  const taken = choices.flatMap((choice) => chooseTaken(choice) ?? []);
  if (taken.length > 0)
    await workTrees.take(
      place,
      tree,
      taken.map(({ one }) => one),
    );
  for (const { one } of taken) desk.note(say("merge.taken", { file: one.change.file }));
  const isWhole = taken.length === choices.length && taken.every(({ isPart }) => !isPart);
  if (isWhole) await workTrees.noteMerged(place, tree);
  desk.note(say(isWhole ? "merge.done" : "merge.kept", { name: tree.name, folder: tree.mainRoot }));
}

function chooseTaken({ change, parts, isTaken }: FileChoice): { one: TakenChange; isPart: boolean } | null {
  const hunks = parts.flatMap((part) => (part.isTaken ? part.hunk : []));
  if (parts.length === 0) return isTaken ? { one: { change }, isPart: false } : null;
  if (hunks.length === 0 || change.diff === undefined) return null;
  if (hunks.length === parts.length) return { one: { change }, isPart: false };
  return { one: { change, text: applyHunkParts(change.diff, hunks) }, isPart: true };
}
