import { say } from "../locales/say.ts";
import { normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { drawDiff } from "./displays/file-diff.ts";
import { drawKeyHints, type Panel, Scroll } from "./panel.ts";

/** One hunk of a file that a call changed with a file tool. */
export interface ChangedPart {
  readonly kind: "place";
  readonly file: string;
  /** The description of the call. */
  readonly call: string;
  /** The hunk's lines in a unified diff. */
  readonly hunk: string;
  isTakenBack: boolean;
}

/** The changes by a command, an MCP tool, a hook or a check. They are undone as a whole. */
export interface WholeCall {
  readonly kind: "call";
  /** The call's id in the undo journal. */
  readonly id: string;
  /** The name of a tool, or `hook` or `check`. */
  readonly maker: string;
  readonly call: string;
  readonly files: readonly string[];
  isTakenBack: boolean;
}

export type Change = ChangedPart | WholeCall;

interface ReviewOptions {
  readonly changes: readonly Change[];
  /** Undoes these changes, latest first. The panel is drawn again afterwards. */
  readonly takeBack: (changes: readonly Change[]) => void;
  readonly close: () => void;
}

const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1, left: -1, right: 1 };

/** Shows a session's changes one after the other, by hunk or by call. */
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
        { text: formatText(formatChangeTitle(change)), style: "strong" },
        { text: `  ${say("changes.place", count)}${state}`, style: "dim" },
      ];
      const what: Line = [{ text: formatText(change.call), style: "dim" }];
      const keys = drawKeyHints(say("changes.keys"), width);
      const shown = scroll.cutToPage(drawChange(change, width), height - 2 - keys.length);
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

function formatChangeTitle(change: Change): string {
  if (change.kind === "place") return change.file;
  const count = change.files.length;
  return `${change.maker}  ${say("receipt.changed", { count })}`;
}

function drawChange(change: Change, width: number): readonly Line[] {
  if (change.kind === "place") return drawDiff(change.hunk, width, change.file);
  return change.files.flatMap((file) => wrapLine([{ text: formatText(file) }], width));
}

function isSameFile(one: Change, other: Change | undefined): boolean {
  return one.kind === "place" && other?.kind === "place" && one.file === other.file;
}
