import type { AgentEvent } from "@burin/contract/agent-event";
import type { Decision } from "@burin/contract/tools";
import type { ReadMemory } from "@burin/machine/files/read-record";
import type { OnChange } from "@burin/machine/files/replace-file";
import { Parking } from "../session/parking.ts";
import type { PastSession } from "../session/past-session.ts";
import { Recording } from "../session/recording.ts";
import type { ResumedSession } from "../session/resume.ts";
import type { Home } from "./home.ts";

/** What is told of each change of a file, so that undo can take it back. */
export async function undoJournal(home: string, root: string, writer: string): Promise<OnChange> {
  const { UndoJournal } = await import("../session/undo-journal.ts");
  return new UndoJournal(home, root, writer).onChange;
}

/** What the model was shown of files, so that a session that is taken up again knows it. */
export function readsOf(past: PastSession | null, recording: Recording): ReadMemory {
  return { recall: () => past?.seen ?? [], note: (seen) => recording.noteSeen(seen) };
}

interface RecordingGround {
  readonly id: string;
  readonly home: Home;
  readonly resumed: ResumedSession | undefined;
  readonly isRecorded: boolean;
}

/** Keeps the question that a session is parked with, and its answer. */
export function parkingOf(
  { id, home: { environment, variables }, resumed }: RecordingGround,
  answer: Decision | undefined,
  recording: Recording,
): Parking {
  const jsonOf = async (value: unknown) => {
    const { Redactor } = await import("../session/redactor.ts");
    return new Redactor(environment, variables.secret).json(value);
  };
  return new Parking({ sessionId: id, recording, past: resumed?.session ?? null, answer, jsonOf });
}

/** The log of a session, under BURIN_HOME where it is recorded. */
export function recordingOf(
  { id, home: { root, environment, folder, variables }, resumed, isRecorded }: RecordingGround,
  announcement: AgentEvent,
): Recording {
  const place = { id, root, environment, home: folder, secretNames: variables.secret };
  const open = async () => {
    const { openLog } = await import("../session/open-log.ts");
    return openLog(resumed ? { ...place, past: resumed } : place);
  };
  const options = () => ({
    lastNumber: resumed?.session.lastNumber ?? 0,
    isMidLine: resumed?.session.isMidLine ?? false,
    open: isRecorded ? open : null,
    onUnused: () => resumed?.lock.release(),
  });
  return new Recording(options, announcement);
}
