import { say } from "../locales/say.ts";
import { normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { drawDiff } from "./displays/file-diff.ts";
import { drawKeyHints, type Panel, Scroll } from "./panel.ts";

/** One place in a file that a call changed with a file tool. */
export interface ChangedPart {
  readonly kind: "place";
  readonly file: string;
  /** What the call was meant to do. */
  readonly call: string;
  /** The lines of a unified diff. */
  readonly hunk: string;
  isTakenBack: boolean;
}

/** What a command, an MCP tool, a hook or a check changed; it is taken back as a whole. */
export interface WholeCall {
  readonly kind: "call";
  /** Its id in the journal. */
  readonly id: string;
  /** The name of a tool, `hook` or `check`. */
  readonly maker: string;
  readonly call: string;
  readonly files: readonly string[];
  isTakenBack: boolean;
}

export type Change = ChangedPart | WholeCall;

interface ReviewOptions {
  readonly changes: readonly Change[];
  /** Undoes these, latest first; the panel is then drawn again. */
  readonly takeBack: (changes: readonly Change[]) => void;
  readonly close: () => void;
}

const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1, left: -1, right: 1 };

/** The changes of a session, one place in a file, or one call, after the other. */
export function createReviewPanel({ changes, takeBack, close }: ReviewOptions): Panel {
  let at = 0;
  const scroll = new Scroll();
  return {
    view: ({ width, height }) => {
      const change = changes[at];
      if (change === undefined) return { title: say("changes.none"), lines: [] };
      const count = { at: at + 1, all: changes.length };
      const state = change.isTakenBack ? `  ${say("changes.takenBack")}` : "";
      const head: Line = [
        { text: formatText(formatName(change)), style: "strong" },
        { text: `  ${say("changes.place", count)}${state}`, style: "dim" },
      ];
      const what: Line = [{ text: formatText(change.call), style: "dim" }];
      const keys = drawKeyHints(say("changes.keys"), width);
      const shown = scroll.cut(drawChange(change, width), height - 2 - keys.length);
      return { title: say("changes.title"), lines: [head, what, ...shown, ...keys] };
    },
    key: (key) => {
      const change = changes[at];
      const step = STEPS[key.name];
      const command = normalizeCommandKey(key);
      if (step !== undefined) {
        at = Math.max(0, Math.min(at + step, changes.length - 1));
        scroll.from = 0;
      } else if (scroll.key(key.name)) return;
      else if (key.name === "escape" || command === "q") close();
      else if (command === "t" && change !== undefined) takeBack([change]);
      else if (command === "f") takeBack(changes.filter((one) => one === change || isSameFile(one, change)));
      else if (command === "a") takeBack(changes);
    },
  };
}

function formatName(change: Change): string {
  if (change.kind === "place") return change.file;
  const count = change.files.length;
  return `${change.maker}  ${say(count === 1 ? "receipt.changedOne" : "receipt.changed", { count })}`;
}

function drawChange(change: Change, width: number): readonly Line[] {
  if (change.kind === "place") return drawDiff(change.hunk, width, change.file);
  return change.files.flatMap((file) => wrapLine([{ text: formatText(file) }], width));
}

function isSameFile(one: Change, other: Change | undefined): boolean {
  return one.kind === "place" && other?.kind === "place" && one.file === other.file;
}
