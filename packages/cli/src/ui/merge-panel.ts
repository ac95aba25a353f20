import type { TreeChange } from "@burin/core/internal";
import { say } from "../locales/say.ts";
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { HunkPicker, type PickedParts } from "./hunk-picker.ts";
import { drawKeyHints, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";

/** What the user accepts of one file. */
export interface FileChoice {
  readonly change: TreeChange;
  /** The picker of parts; absent for a file that is accepted only as a whole. */
  readonly parts: PickedParts;
  readonly isTaken: boolean;
}

interface MergeOptions {
  readonly changes: readonly TreeChange[];
  readonly send: (choices: readonly FileChoice[]) => void;
  readonly close: () => void;
}

interface Row {
  readonly change: TreeChange;
  readonly picker: HunkPicker | null;
  isTaken: boolean;
}

/** Shows the files that a work tree has changed, one after the other. The user accepts parts of each. */
export class MergePanel implements Panel {
  readonly #needs: MergeOptions;
  readonly #rows: readonly Row[];
  readonly #scroll = new Scroll();
  #at = 0;

  constructor(needs: MergeOptions) {
    this.#needs = needs;
    // A change in a place that both sides changed is accepted only on purpose.
    this.#rows = needs.changes.map((change) => {
      const isTaken = change.conflict === undefined;
      const picker =
        change.diff === undefined
          ? null
          : new HunkPicker(change.file, change.diff, { isTaken, keys: "merge.keys" });
      return { change, picker, isTaken };
    });
  }

  view({ width, height }: PanelSpace): PanelView {
    const row = this.#rows[this.#at];
    if (row === undefined) return { title: say("merge.title"), lines: [] };
    const { change, picker } = row;
    const count = say("changes.place", { at: this.#at + 1, all: this.#rows.length });
    const head: Line = [
      { text: formatText(change.file), style: "strong" },
      { text: `  ${count}`, style: "dim" },
    ];
    const conflict: Line[] =
      change.conflict === undefined
        ? []
        : wrapLine([{ text: say(`merge.conflict.${change.conflict}`), style: "warning" }], width);
    const content = picker?.lines(width) ?? [drawWholeFileChoice(row)];
    const hints = picker?.hintLines(width) ?? drawKeyHints(say("merge.keys"), width);
    const room = height - 1 - conflict.length - hints.length;
    return {
      title: say("merge.title"),
      lines: [head, ...conflict, ...this.#scroll.cutToPage(content, room), ...hints],
    };
  }

  key(key: Key): void {
    const row = this.#rows[this.#at];
    if (row === undefined) return void this.#needs.close();
    const { picker } = row;
    if (picker?.words) return void picker.key(key);
    const step = { left: -1, right: 1 }[key.name];
    if (step !== undefined) {
      this.#at = Math.max(0, Math.min(this.#at + step, this.#rows.length - 1));
      this.#scroll.from = 0;
    } else if (key.name === "escape") this.#needs.close();
    else if (key.name === "enter") this.#sendChoices();
    else if (this.#scroll.key(key.name)) return;
    else if (picker !== null) {
      picker.key(key);
      if (key.name === "up" || key.name === "down") this.#scroll.from = picker.row;
    } else if ([" ", "x"].includes(normalizeCommandKey(key))) row.isTaken = !row.isTaken;
  }

  #sendChoices(): void {
    this.#needs.send(
      this.#rows.map(({ change, picker, isTaken }) => ({ change, parts: picker?.parts ?? [], isTaken })),
    );
  }
}

function drawWholeFileChoice({ change, isTaken }: Row): Line {
  const what =
    change.merged === null ? "merge.removes" : change.present === null ? "merge.adds" : "merge.replaces";
  return [{ text: `› [${isTaken ? "x" : " "}] `, style: "strong" }, { text: say(what) }];
}
