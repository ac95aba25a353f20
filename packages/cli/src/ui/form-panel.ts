import type { Decision, JsonSchema, Question } from "@burin/core";
import { say } from "../locales/say.ts";
import type { Key } from "../terminal/keys.ts";
import { type Line, shownText, sideBySide, wrapLine } from "../terminal/styled-line.ts";
import { FormField } from "./form-field.ts";
import { framed, keyHints, type Panel, type PanelSpace, type PanelView, Scroll, Standing } from "./panel.ts";

export interface FormNeeds {
  readonly question: Question;
  /** null: the user declines to answer. */
  readonly answer: (decision: Decision | null) => void;
}

/** A form of an MCP server: a field for each value, and two answers below them. */
export class FormPanel extends Standing implements Panel {
  readonly #needs: FormNeeds;
  readonly #server: string;
  readonly #message: string;
  readonly #fields: readonly FormField[];
  /** The field that has the keys; the two answers follow the last field. */
  #at = 0;
  readonly #scroll = new Scroll();

  constructor(needs: FormNeeds) {
    super();
    this.#needs = needs;
    const { confirmation } = needs.question;
    const form = confirmation.kind === "form" ? confirmation : { server: "", message: "", schema: {} };
    this.#server = shownText(form.server);
    this.#message = form.message;
    this.#fields = fieldsOf(form.schema);
  }

  view({ width, height }: PanelSpace): PanelView {
    this.begin();
    const room = Math.max(width - 3, 8);
    const head = [
      ...wrapLine([{ text: this.#server, style: "strong" }], room),
      ...this.#message.split("\n").flatMap((text) => wrapLine([{ text: shownText(text) }], room)),
    ];
    const rows: Line[] = [];
    let caret: PanelView["caret"];
    for (const [index, field] of this.#fields.entries()) {
      const { lines, column } = field.view(room, index === this.#at);
      if (index === this.#at) caret = { row: rows.length, column: column ?? 0 };
      rows.push(...lines, ...this.#below(field, index, room));
    }
    const foot = [...this.#answers(room), ...keyHints(say("form.keys"), room)];
    const most = Math.max(height - foot.length - 3, 3);
    const content = [...head, ...rows];
    const wanted = head.length + (caret?.row ?? rows.length);
    this.#scroll.from = Math.min(Math.max(this.#scroll.from, wanted - most + 2), wanted);
    const shown = this.#scroll.cut(content, most);
    const lines = framed(say("question.form"), [...shown, ...foot], width);
    const row = caret === undefined ? 1 + shown.length : 1 + wanted - this.#scroll.from;
    return { lines, caret: { row, column: 2 + (caret?.column ?? 0) } };
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
    if (fault !== "") return wrapLine([{ text: `    ${fault}`, style: "bad" }], width, "    ");
    if (index !== this.#at || description === "") return [];
    return wrapLine([{ text: `    ${description}`, style: "dim" }], width, "    ");
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
