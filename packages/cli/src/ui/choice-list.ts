import { widthOf } from "../terminal/cell-width.ts";
import { cutLine, type Line, shownText } from "../terminal/styled-line.ts";

export interface Choice {
  /** What is taken when it is chosen. */
  readonly value: string;
  readonly label: string;
  readonly more: string;
}

/** A list with one row chosen; the rows around it are shown. */
export class ChoiceList {
  readonly choices: readonly Choice[];
  #at = 0;

  constructor(choices: readonly Choice[]) {
    this.choices = choices;
  }

  get chosen(): Choice | undefined {
    return this.choices[this.#at];
  }

  move(by: number): void {
    const count = this.choices.length;
    if (count > 0) this.#at = (this.#at + by + count) % count;
  }

  lines(width: number, most: number): Line[] {
    const from = Math.max(0, Math.min(this.#at - Math.floor(most / 2), this.choices.length - most));
    const shown = this.choices.slice(from, from + most);
    const column = Math.min(
      Math.max(...shown.map(({ label }) => widthOf(shownText(label))), 0),
      Math.floor(width / 2),
    );
    return shown.map(({ label, more }, index) => {
      const isChosen = from + index === this.#at;
      const clean = shownText(label);
      const gap = more === "" ? "" : " ".repeat(Math.max(column - widthOf(clean), 0) + 2);
      return cutLine(
        [
          { text: isChosen ? "› " : "  ", style: "accent" },
          { text: clean, style: isChosen ? "strong" : undefined },
          { text: gap + shownText(more), style: "dim" },
        ],
        width,
      );
    });
  }
}
