import { measureWidth } from "../terminal/cell-width.ts";
import { cutLine, formatText, type Line, measureLine, type Style } from "../terminal/styled-line.ts";

export interface Choice {
  /** The value that choosing this entry returns. */
  readonly value: string;
  /** The text that is shown instead of the value. */
  readonly label?: string;
  /** A description next to it, dim if it has no style of its own. */
  readonly more?: string;
  readonly moreStyle?: Style;
}

/** A list with one selected row. Shows the rows around it. */
export class ChoiceList {
  readonly choices: readonly Choice[];
  #at = 0;

  /** Creates the list with the cursor on `value`, or on the first choice. */
  constructor(choices: readonly Choice[], value?: string) {
    this.choices = choices;
    const at = choices.findIndex((choice) => choice.value === value);
    this.#at = Math.max(at, 0);
  }

  get chosen(): Choice | undefined {
    return this.choices[this.#at];
  }

  move(by: number): void {
    const count = this.choices.length;
    if (count > 0) this.#at = (this.#at + by + count) % count;
  }

  /** Returns the rows around the selected one. If there are more choices than rows, the last row says how many. */
  drawLines(width: number, maxRows: number): Line[] {
    const { length } = this.choices;
    if (length <= maxRows || maxRows < 2) return this.#drawRows(width, maxRows);
    const place: Line = [{ text: `  ${this.#at + 1}/${length}`, style: "dim" }];
    return [...this.#drawRows(width, maxRows - 1), place];
  }

  #drawRows(width: number, maxRows: number): Line[] {
    const from = Math.max(0, Math.min(this.#at - Math.floor(maxRows / 2), this.choices.length - maxRows));
    const shown = this.choices.slice(from, from + maxRows);
    const findWidest = (texts: readonly string[]): number =>
      Math.max(0, ...texts.map((text) => measureWidth(formatText(text))));
    const beside = findWidest(shown.map(({ more = "" }) => more));
    const room = Math.max(Math.floor((width - 4) / 2), width - 4 - beside);
    const column = Math.min(findWidest(shown.map(({ value, label = value }) => label)), room);
    return shown.map(({ value, label = value, more = "", moreStyle = "dim" }, index) => {
      const isChosen = from + index === this.#at;
      const style = isChosen ? "strong" : undefined;
      const name = cutLine([{ text: formatText(label), style }], more === "" ? width : column);
      const gap = more === "" ? "" : " ".repeat(Math.max(column - measureLine(name), 0) + 2);
      return cutLine(
        [
          { text: isChosen ? "› " : "  ", style: "accent" },
          ...name,
          { text: gap + formatText(more), style: moreStyle },
        ],
        width,
      );
    });
  }
}
