import { say } from "../locales/say.ts";
import { commandKey } from "../terminal/keys.ts";
import { type Line, shownText } from "../terminal/styled-line.ts";
import { diffLines } from "./displays/file-diff.ts";
import { keyHints, type Panel, Scroll } from "./panel.ts";

/** One place in a file that a call changed. */
export interface Change {
  readonly file: string;
  /** What the call was meant to do. */
  readonly call: string;
  /** The lines of a unified diff. */
  readonly hunk: string;
  isTakenBack: boolean;
}

interface ReviewNeeds {
  readonly changes: readonly Change[];
  /** Undoes these, latest first; the panel is then drawn again. */
  readonly takeBack: (changes: readonly Change[]) => void;
  readonly close: () => void;
}

const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1, left: -1, right: 1 };

/** The changes of a session, one place in a file after the other. */
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
        { text: shownText(change.file), style: "strong" },
        { text: `  ${say("changes.place", count)}${state}`, style: "dim" },
      ];
      const what: Line = [{ text: shownText(change.call), style: "dim" }];
      const keys = keyHints(say("changes.keys"), width);
      const shown = scroll.cut(diffLines(change.hunk, width, change.file), height - 2 - keys.length);
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
      else if (command === "f") takeBack(changes.filter(({ file }) => file === change?.file));
      else if (command === "a") takeBack(changes);
    },
  };
}
