import type { GuardNote } from "../processes/process-ledger.ts";
import { type Before, takeBackMade } from "./judge-changes.ts";
import { AllowedCalls } from "./permissions.ts";
import { Surveyor } from "./sandbox-survey.ts";

/** Of what refs name: more would make each command's note too long. */
const MOST_TIPS = 500;

interface Guarded extends Before {
  readonly roots: readonly string[];
  readonly temporary: string;
}

/** What the next Burin needs, if this one crashes, to look after a command. */
export function guardNote(guarded: Guarded): GuardNote {
  const { named, places, since, temporary, tips, steps, gitFolders = [] } = guarded;
  const roots = [...guarded.roots, ...gitFolders];
  const standing = [...places].map(([key, { kind, target = null }]) => [key, kind, target] as const);
  const size = [...tips.values()].reduce((sum, ids) => sum + ids.size, 0);
  const refs = size > MOST_TIPS ? [] : [...tips].map(([folder, ids]) => [folder, [...ids]] as const);
  const lists = { named: [...named], places: standing, tips: refs, steps: [...steps] };
  return { since, roots, temporary, ...lists };
}

/** Takes back what a command made that a crash left alone, before this time. */
export async function lookAfterGuard(note: GuardNote, home: string, until: number): Promise<void> {
  const { roots, temporary, since, named, tips = [], steps = [] } = note;
  const places = new Map(
    note.places.map(([key, kind, target]) => [key, { kind, ...(target && { target }) }] as const),
  );
  const survey = await new Surveyor(roots, temporary).lookInSlices(named);
  const before = {
    ...{ since, places, named: new Set(named), until, steps: new Set(steps) },
    tips: new Map(tips.map(([folder, ids]) => [folder, new Set(ids)] as const)),
    calls: AllowedCalls.all(home),
  };
  takeBackMade(before, { survey, roots, home });
}
