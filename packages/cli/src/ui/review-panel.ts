import { say } from "../locales/say.ts";
import { commandKey } from "../terminal/keys.ts";
import { type Line, shownText, wrapLine } from "../terminal/styled-line.ts";
import { diffLines } from "./displays/file-diff.ts";
import { keyHints, type Panel, Scroll } from "./panel.ts";

/** One place in a file that a call changed with a file tool. */
export interface ChangedPlace {
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

export type Change = ChangedPlace | WholeCall;

interface ReviewNeeds {
  readonly changes: readonly Change[];
  /** Undoes these, latest first; the panel is then drawn again. */
  readonly takeBack: (changes: readonly Change[]) => void;
  readonly close: () => void;
}

const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1, left: -1, right: 1 };

/** The changes of a session, one place in a file, or one call, after the other. */
export function reviewPanel({ changes, takeBack, close }: ReviewNeeds): Panel {
  let at = 0;
  const scroll = new Scroll();
  return {
    view: ({ width, height }) => {
      const change = changes[at];
      if (change === undefined) return { title: say("changes.none"), lines: [] };
      const count = { at: at + 1, all: changes.length };
      const state = change.isTakenBack ? `  ${say("changes.takenBack")}` : "";
      const head: Line = [
        { text: shownText(nameOf(change)), style: "strong" },
        { text: `  ${say("changes.place", count)}${state}`, style: "dim" },
      ];
      const what: Line = [{ text: shownText(change.call), style: "dim" }];
      const keys = keyHints(say("changes.keys"), width);
      const shown = scroll.cut(linesOf(change, width), height - 2 - keys.length);
      return { title: say("changes.title"), lines: [head, what, ...shown, ...keys] };
    },
    key: (key) => {
      const change = changes[at];
      const step = STEPS[key.name];
      const command = commandKey(key);
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

function nameOf(change: Change): string {
  if (change.kind === "place") return change.file;
  const count = change.files.length;
  return `${change.maker}  ${say(count === 1 ? "receipt.changedOne" : "receipt.changed", { count })}`;
}

function linesOf(change: Change, width: number): readonly Line[] {
  if (change.kind === "place") return diffLines(change.hunk, width, change.file);
  return change.files.flatMap((file) => wrapLine([{ text: shownText(file) }], width));
}

function isSameFile(one: Change, other: Change | undefined): boolean {
  return one.kind === "place" && other?.kind === "place" && one.file === other.file;
}
