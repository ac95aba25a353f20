import type { Confirmation, Decision, JsonSchema } from "@burin/core";
import { findSchemaError } from "@burin/core/internal";
import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import {
  createSpan,
  cutLine,
  formatText,
  joinColumns,
  type Line,
  measureLine,
  type Span,
  splitLines,
  wrapLine,
} from "../terminal/styled-line.ts";
import { applyEditKey } from "./edit-keys.ts";
import { drawKeyHints, KeyGuard, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";
import { drawPrompt } from "./prompt-view.ts";

interface FormOptions {
  readonly form: Extract<Confirmation, { kind: "form" }>;
  /** Called with null if the user declines to answer. */
  readonly answer: (decision: Decision | null) => void;
}

/** Shows a form from an MCP server: a field for each value, and two answers below them. */
export class FormPanel extends KeyGuard implements Panel {
  readonly #needs: FormOptions;
  readonly #fields: readonly FormField[];
  /** The index of the field that receives keys. The two answers follow the last field. */
  #at = 0;
  readonly #scroll = new Scroll();

  constructor(needs: FormOptions) {
    super();
    this.#needs = needs;
    this.#fields = buildFields(needs.form.schema);
  }

  view({ width, height }: PanelSpace): PanelView {
    this.startGuard();
    const { server, message } = this.#needs.form;
    const head = [[createSpan(server, "strong")], ...splitLines(message)].flatMap((line) =>
      wrapLine(line, width),
    );
    const rows: Line[] = [];
    let caret: PanelView["caret"];
    for (const [index, field] of this.#fields.entries()) {
      const { lines, column } = field.view(width, index === this.#at);
      if (index === this.#at) caret = { row: rows.length, column: column ?? 0 };
      rows.push(...lines, ...this.#drawHint(field, index, width));
    }
    const foot = [...this.#drawAnswers(width), ...drawKeyHints(say("form.keys"), width)];
    const max = Math.max(height - foot.length - 1, 3);
    const content = [...head, ...rows];
    const wanted = head.length + (caret?.row ?? rows.length);
    this.#scroll.from = Math.min(Math.max(this.#scroll.from, wanted - max + 2), wanted);
    const shown = this.#scroll.cutToPage(content, max);
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
    else if (name === "enter") this.#confirmField();
    else this.#fields[this.#at]?.key(key);
  }

  #confirmField(): void {
    const field = this.#fields[this.#at];
    if (field !== undefined) {
      if (field.check()) this.#at += 1;
    } else if (this.#at > this.#fields.length) this.#needs.answer({ outcome: "cancel" });
    else this.#submitForm();
  }

  #submitForm(): void {
    const wrong = this.#fields.filter((field) => !field.check());
    if (wrong[0] !== undefined) {
      this.#at = this.#fields.indexOf(wrong[0]);
      return;
    }
    const given = this.#fields.filter(({ value }) => value !== undefined);
    const values = Object.fromEntries(given.map(({ name, value }) => [name, value]));
    this.#needs.answer({ outcome: "filled", values });
  }

  /** Returns the hint or error that is shown below a field. */
  #drawHint(field: FormField, index: number, width: number): Line[] {
    const { fault, description } = field;
    const text = fault === "" && index === this.#at ? description : fault;
    const style = fault === "" ? "dim" : "bad";
    return text === "" ? [] : wrapLine([{ text: `    ${text}`, style }], width, "    ");
  }

  #drawAnswers(width: number): Line[] {
    const drawAnswer = (text: string, at: number): Line => {
      const isChosen = this.#at === this.#fields.length + at;
      return [
        { text: isChosen ? "› " : "  ", style: "accent" },
        { text, style: isChosen ? "chosen" : "strong" },
      ];
    };
    return joinColumns([drawAnswer(say("form.send"), 0), drawAnswer(say("form.decline"), 1)], width);
  }
}

function buildFields({ properties = {}, required }: JsonSchema): FormField[] {
  const needed = [required].flat();
  return Object.entries(properties).map(
    ([name, schema]) => new FormField(name, typeof schema === "object" ? schema : {}, needed.includes(name)),
  );
}

interface Choice {
  readonly value: unknown;
  readonly label: string;
}

/** One value that a form asks for, described by a JSON schema. */
export class FormField {
  readonly name: string;
  readonly isRequired: boolean;
  /** The fault of the value; "" if none is known. */
  fault = "";
  readonly #schema: JsonSchema;
  readonly #choices: readonly Choice[];
  readonly #takesMany: boolean;
  readonly #text = new TextBuffer();
  readonly #picked = new Set<number>();
  /** The user's position in the choices; -1 until the user moves to them. */
  #at = -1;

  constructor(name: string, schema: JsonSchema, isRequired: boolean) {
    this.name = name;
    this.isRequired = isRequired;
    this.#schema = schema;
    this.#takesMany = schema.type === "array";
    this.#choices = readChoices(schema);
    for (const value of [schema.default].flat()) {
      const index = this.#choices.findIndex((choice) => choice.value === value);
      if (index !== -1) this.#chooseIndex(index);
      else if (typeof value === "string" || typeof value === "number") this.#text.set(String(value));
    }
  }

  get label(): string {
    return formatText(typeof this.#schema.title === "string" ? this.#schema.title : this.name);
  }

  get description(): string {
    return typeof this.#schema.description === "string" ? formatText(this.#schema.description) : "";
  }

  /** The value; undefined if nothing was entered. */
  get value(): unknown {
    const picked = [...this.#picked].sort((one, other) => one - other).map((at) => this.#choices[at]?.value);
    if (this.#takesMany) return picked.length > 0 || this.isRequired ? picked : undefined;
    if (this.#choices.length > 0) return picked[0];
    const text = this.#text.content.trim();
    if (text === "") return undefined;
    const isNumber = this.#schema.type === "number" || this.#schema.type === "integer";
    return isNumber && Number.isFinite(Number(text)) ? Number(text) : this.#text.content;
  }

  /** Checks the value. Returns true if it is valid. */
  check(): boolean {
    const { name, value } = this;
    if (value === undefined) this.fault = this.isRequired ? say("form.required") : "";
    else {
      const properties = { [name]: this.#schema };
      const fault = findSchemaError({ type: "object", properties }, { [name]: value });
      this.fault = formatText(fault ?? findFormatFault(this.#schema.format, value));
    }
    return this.fault === "";
  }

  /** Returns the field's rows, and the column of the caret. */
  view(width: number, isChosen: boolean) {
    const head: Line = [
      { text: isChosen ? "› " : "  ", style: "accent" },
      { text: `${this.label}${this.isRequired ? " *" : ""}: `, style: isChosen ? "strong" : undefined },
    ];
    if (this.#choices.length > 0)
      return { lines: wrapLine([...head, ...this.#choiceSpans(isChosen)], width, "    "), column: null };
    const before = measureLine(head);
    const { lines, caret } = drawPrompt(this.#text, Math.max(width - before + 2, 8), 1);
    const [, ...written] = lines[0] ?? [];
    return { lines: [cutLine([...head, ...written], width)], column: before + caret.column - 2 };
  }

  key(key: Key): void {
    this.fault = "";
    if (this.#choices.length === 0) {
      if (key.name === "paste") this.#text.insert(key.text.trim().replace(/\s*\n\s*/g, " "));
      else applyEditKey(this.#text, key);
    } else if (key.name === "left" || key.name === "right") this.#move(key.name === "left" ? -1 : 1);
    else if (/^ +$/.test(normalizeCommandKey(key))) for (const _space of key.text) this.#toggleOrMove();
  }

  #move(by: number): void {
    const count = this.#choices.length;
    this.#at = this.#at === -1 ? 0 : (this.#at + by + count) % count;
    if (!this.#takesMany) this.#chooseIndex(this.#at);
  }

  #toggleOrMove(): void {
    if (!this.#takesMany) this.#move(1);
    else if (this.#at === -1) this.#at = 0;
    else if (!this.#picked.delete(this.#at)) this.#picked.add(this.#at);
  }

  #chooseIndex(index: number): void {
    if (!this.#takesMany) this.#picked.clear();
    this.#picked.add(index);
    if (!this.#takesMany) this.#at = index;
  }

  #choiceSpans(isChosen: boolean): Span[] {
    return this.#choices.flatMap(({ label }, index): Span[] => {
      const isPicked = this.#picked.has(index);
      const mark = this.#takesMany ? (isPicked ? "[x] " : "[ ] ") : isPicked ? "(•) " : "( ) ";
      const style = isChosen && index === this.#at ? "chosen" : isPicked ? "strong" : undefined;
      return [{ text: index === 0 ? "" : "  " }, { text: mark + formatText(label), style }];
    });
  }
}

/** Checks for the formats in a schema; JSON Schema leaves these to the application. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d{2}-\d{2}[Tt ]/.test(text) && !Number.isNaN(Date.parse(text)),
};

function findFormatFault(format: unknown, value: unknown): string {
  if (typeof format !== "string" || typeof value !== "string") return "";
  return FORMATS[format]?.(value.trim()) === false ? say("form.format", { format }) : "";
}

/** Returns the possible values; none for a text or a number. */
function readChoices(schema: JsonSchema): Choice[] {
  if (schema.type === "boolean")
    return [
      { value: true, label: say("question.yes") },
      { value: false, label: say("form.no") },
    ];
  const { items } = schema;
  const of = schema.type === "array" && typeof items === "object" ? (items as JsonSchema) : schema;
  const titled = [of.oneOf, of.anyOf].find(Array.isArray) as readonly JsonSchema[] | undefined;
  if (titled !== undefined)
    return titled.map(({ const: value, title }) => ({ value, label: String(title ?? value) }));
  const names: readonly unknown[] = Array.isArray(of.enumNames) ? of.enumNames : [];
  return (of.enum ?? []).map((value, index) => ({ value, label: String(names[index] ?? value) }));
}
