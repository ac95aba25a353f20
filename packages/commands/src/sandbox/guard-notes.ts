import type { CheckGuard, GuardNote } from "../processes/process-ledger.ts";
import { type GuardContext, type StateBefore, takeBackCreated } from "./judge-changes.ts";
import { AllowedCalls } from "./permissions.ts";
import { Surveyor } from "./sandbox-survey.ts";

/** The maximum number of commits that a note lists for the refs; more would make each command's note too long. */
const MAX_TIPS = 500;

interface GuardedFolders extends StateBefore {
  readonly roots: readonly string[];
  readonly temporary: string;
}

/** Creates the note with which the next Burin can check a command if this Burin crashes. */
export function createGuardNote(guarded: GuardedFolders): GuardNote {
  const { named, places, since, temporary, tips, steps, gitFolders = [] } = guarded;
  const roots = [...guarded.roots, ...gitFolders];
  const standing = [...places].map(([key, { kind, target = null }]) => [key, kind, target] as const);
  const size = [...tips.values()].reduce((sum, ids) => sum + ids.size, 0);
  const refs = size > MAX_TIPS ? [] : [...tips].map(([folder, ids]) => [folder, [...ids]] as const);
  const lists = { named: [...named], places: standing, tips: refs, steps: [...steps] };
  return { since, roots, temporary, ...lists };
}

/** Takes back what commands created until their Burin crashed. */
export function createGuardCheck(environment: NodeJS.ProcessEnv): CheckGuard {
  return (note, home, until) => checkCrashedGuard(note, { home, environment }, until);
}

async function checkCrashedGuard(
  note: GuardNote,
  { home, environment }: Pick<GuardContext, "home" | "environment">,
  until: number,
): Promise<void> {
  const { roots, temporary, since, named, tips = [], steps = [] } = note;
  const places = new Map(
    note.places.map(([key, kind, target]) => [key, { kind, ...(target && { target }) }] as const),
  );
  const survey = await new Surveyor({ roots, temporary, environment }).surveyInSlices(named);
  const before = {
    ...{ since, places, named: new Set(named), until, steps: new Set(steps) },
    tips: new Map(tips.map(([folder, ids]) => [folder, new Set(ids)] as const)),
    calls: AllowedCalls.all(home),
  };
  takeBackCreated(before, { survey, roots, home, environment });
}
