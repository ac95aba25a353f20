import type { Confirmation, Decision, JsonSchema } from "@burin/core";
import { say } from "../locales/say.ts";
import type { Key } from "../terminal/keys.ts";
import { type Line, linesOf, sideBySide, span, wrapLine } from "../terminal/styled-line.ts";
import { FormField } from "./form-field.ts";
import { keyHints, type Panel, type PanelSpace, type PanelView, Scroll, Standing } from "./panel.ts";

interface FormNeeds {
  readonly form: Extract<Confirmation, { kind: "form" }>;
  /** null: the user declines to answer. */
  readonly answer: (decision: Decision | null) => void;
}

/** A form of an MCP server: a field for each value, and two answers below them. */
export class FormPanel extends Standing implements Panel {
  readonly #needs: FormNeeds;
  readonly #fields: readonly FormField[];
  /** The field that has the keys; the two answers follow the last field. */
  #at = 0;
  readonly #scroll = new Scroll();

  constructor(needs: FormNeeds) {
    super();
    this.#needs = needs;
    this.#fields = fieldsOf(needs.form.schema);
  }

  view({ width, height }: PanelSpace): PanelView {
    this.begin();
    const { server, message } = this.#needs.form;
    const head = [[span(server, "strong")], ...linesOf(message)].flatMap((line) => wrapLine(line, width));
    const rows: Line[] = [];
    let caret: PanelView["caret"];
    for (const [index, field] of this.#fields.entries()) {
      const { lines, column } = field.view(width, index === this.#at);
      if (index === this.#at) caret = { row: rows.length, column: column ?? 0 };
      rows.push(...lines, ...this.#below(field, index, width));
    }
    const foot = [...this.#answers(width), ...keyHints(say("form.keys"), width)];
    const most = Math.max(height - foot.length - 1, 3);
    const content = [...head, ...rows];
    const wanted = head.length + (caret?.row ?? rows.length);
    this.#scroll.from = Math.min(Math.max(this.#scroll.from, wanted - most + 2), wanted);
    const shown = this.#scroll.cut(content, most);
    const row = caret === undefined ? shown.length : wanted - this.#scroll.from;
    const lines = [...shown, ...foot];
    return { title: say("question.form"), lines, caret: { row, column: caret?.column ?? 0 } };
  }

  key(key: Key): void {
    const { name } = key;
    const count = this.#fields.length + 2;
    if (name === "escape") this.#needs.answer(null);
    else if (name === "up" || name === "shift+tab") this.#at = (this.#at - 1 + count) % count;
    else if (name === "down" || name === "tab") this.#at = (this.#at + 1) % count;
    else if (name === "enter") this.#enter();
    else this.#fields[this.#at]?.key(key);
  }

  #enter(): void {
    const field = this.#fields[this.#at];
    if (field !== undefined) {
      if (field.check()) this.#at += 1;
    } else if (this.#at > this.#fields.length) this.#needs.answer({ outcome: "cancel" });
    else this.#send();
  }

  #send(): void {
    const wrong = this.#fields.filter((field) => !field.check());
    if (wrong[0] !== undefined) {
      this.#at = this.#fields.indexOf(wrong[0]);
      return;
    }
    const given = this.#fields.filter(({ value }) => value !== undefined);
    const values = Object.fromEntries(given.map(({ name, value }) => [name, value]));
    this.#needs.answer({ outcome: "filled", values });
  }

  /** A hint for the field, and what is wrong with its value. */
  #below(field: FormField, index: number, width: number): Line[] {
    const { fault, description } = field;
    const text = fault === "" && index === this.#at ? description : fault;
    const style = fault === "" ? "dim" : "bad";
    return text === "" ? [] : wrapLine([{ text: `    ${text}`, style }], width, "    ");
  }

  #answers(width: number): Line[] {
    const answer = (text: string, at: number): Line => {
      const isChosen = this.#at === this.#fields.length + at;
      return [
        { text: isChosen ? "› " : "  ", style: "accent" },
        { text, style: isChosen ? "chosen" : "strong" },
      ];
    };
    return sideBySide([answer(say("form.send"), 0), answer(say("form.decline"), 1)], width);
  }
}

function fieldsOf({ properties = {}, required }: JsonSchema): FormField[] {
  const needed = [required].flat();
  return Object.entries(properties).map(
    ([name, schema]) => new FormField(name, typeof schema === "object" ? schema : {}, needed.includes(name)),
  );
}
