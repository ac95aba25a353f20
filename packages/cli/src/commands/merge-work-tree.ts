import {
  applyHunkParts,
  resolveBurinHome,
  type TakenChange,
  type WorkTree,
  type WorkTreeLocation,
  workTrees,
} from "@burin/core/internal";
import { say } from "../locales/say.ts";
import type { Choice } from "../ui/choice-list.ts";
import { openChoicePanel } from "../ui/choice-panel.ts";
import { type FileChoice, MergePanel } from "../ui/merge-panel.ts";
import type { CommandDesk } from "./command-desk.ts";

/** Shows the changes of this session's or a named work tree. The user can accept parts of them into their own files. */
export async function offerWorkTreeMerge(desk: CommandDesk, name: string): Promise<void> {
  const place = { home: resolveBurinHome(process.env), root: desk.options.root, environment: process.env };
  const own = name === "" ? await workTrees.find(place) : null;
  if (own !== null) return showMerge(desk, place, own);
  const all = await workTrees.list(place).catch(() => []);
  const named = all.find((tree) => tree.name === name);
  if (named !== undefined) return showMerge(desk, place, named);
  if (all.length === 0) return void desk.note(say("merge.noTree"));
  const found = await Promise.all(all.map((tree) => describeTree(place, tree)));
  openChoicePanel(desk, {
    title: say("merge.choose"),
    choices: found,
    chosen: (chosen) => {
      const tree = all.find((one) => one.name === chosen);
      if (tree !== undefined)
        void showMerge(desk, place, tree).catch((error: unknown) => desk.noteFault(error));
    },
  });
}

async function describeTree(place: WorkTreeLocation, tree: WorkTree): Promise<Choice> {
  const files = (await workTrees.changes(place, tree)).map(({ file }) => file);
  return { value: tree.name, more: files.length === 0 ? say("merge.none") : files.join(", ") };
}

async function showMerge(desk: CommandDesk, place: WorkTreeLocation, tree: WorkTree): Promise<void> {
  const changes = await workTrees.changes(place, tree);
  if (changes.length === 0) return void desk.note(say("merge.none"));
  const close = () => desk.show(null);
  const applyChoices = (choices: readonly FileChoice[]) => {
    close();
    void takeChosenChanges(desk, { place, tree, choices }).catch((error: unknown) => desk.noteFault(error));
  };
  desk.show(new MergePanel({ changes, send: applyChoices, close }));
}

interface Merging {
  readonly place: WorkTreeLocation;
  readonly tree: WorkTree;
  readonly choices: readonly FileChoice[];
}

async function takeChosenChanges(desk: CommandDesk, { place, tree, choices }: Merging): Promise<void> {
  const taken = choices.flatMap((choice) => buildTakenChange(choice) ?? []);
  if (taken.length > 0)
    await workTrees.take(
      place,
      tree,
      taken.map(({ one }) => one),
    );
  for (const { one } of taken) desk.note(say("merge.taken", { file: one.change.file }));
  const isWhole = taken.length === choices.length && taken.every(({ isPart }) => !isPart);
  if (isWhole) await workTrees.noteMerged(place, tree);
  const isOwn = (await workTrees.find(place))?.name === tree.name;
  const said = isWhole ? (isOwn ? "merge.done" : "merge.whole") : "merge.kept";
  desk.note(say(said, { name: tree.name, folder: tree.mainRoot }));
}

function buildTakenChange({
  change,
  parts,
  isTaken,
}: FileChoice): { one: TakenChange; isPart: boolean } | null {
  const hunks = parts.flatMap((part) => (part.isTaken ? part.hunk : []));
  if (parts.length === 0) return isTaken ? { one: { change }, isPart: false } : null;
  if (hunks.length === 0 || change.diff === undefined) return null;
  if (hunks.length === parts.length) return { one: { change }, isPart: false };
  return { one: { change, text: applyHunkParts(change.diff, hunks) }, isPart: true };
}
