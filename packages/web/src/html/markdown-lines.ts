/** With deeper nesting, the marks would be longer than the lines. */
const MAX_NESTED_MARKS = 24;

/** Builds Markdown lines, with an empty line between blocks and the outer elements' marks before each line. */
export class MarkdownLines {
  readonly #lines: string[] = [];
  readonly #prefixes: { first: string; readonly rest: string }[] = [];
  /** The pieces of the open line. They are separate so that removing the end of a long line is cheap. */
  readonly #pieces: string[] = [];
  #wantsGap = false;
  /** The target of a link around the whole next line; "" for none. */
  lineLink = "";
  readonly isPlain: boolean;

  /** Plain lines are to be read as they are, so nothing in them is escaped. */
  constructor(isPlain: boolean) {
    this.isPlain = isPlain;
  }

  /** The position where the next text will be added. */
  get mark(): Mark {
    return { line: this.#lines.length, piece: this.#pieces.length };
  }

  /** Adds text. Collapses white space, and removes it at the start of a line. */
  addText(text: string): void {
    const flat = text.replace(/[\t\n\f\r ]+/g, " ");
    const before = this.#pieces.at(-1) ?? " ";
    const isAtBlank = before.endsWith(" ") || before.endsWith("\n");
    this.addVerbatim(isAtBlank && flat.startsWith(" ") ? flat.slice(1) : flat);
  }

  /** Adds text with its white space unchanged, for example code. */
  addVerbatim(text: string): void {
    if (text !== "") this.#pieces.push(text);
  }

  lineBreak(): void {
    this.#pieces.push("\n");
  }

  /** Removes and returns what was written since the mark; null if a line has ended since then. */
  takeSince({ line, piece }: Mark): string | null {
    if (line !== this.#lines.length || piece > this.#pieces.length) return null;
    return this.#pieces.splice(piece).join("");
  }

  endLine(): void {
    if (this.#pieces.length === 0) return;
    const text = this.#pieces
      .join("")
      .trim()
      .replace(/\n\s*\n/g, "\n\n");
    this.#pieces.length = 0;
    if (text === "") return;
    const linked = this.lineLink === "" ? text : `[${text.replaceAll("\n", " ")}](${this.lineLink})`;
    this.lineLink = "";
    const isHeading = this.#prefixes.at(-1)?.first.startsWith("#") ?? false;
    for (const line of isHeading ? [linked.replaceAll("\n", " ")] : linked.split("\n")) {
      this.#pushLine(isHeading || this.isPlain ? line.trim() : escapeStart(line.trim()));
    }
  }

  endBlock(): void {
    this.endLine();
    const around = this.#prefixes.at(-1);
    const isFirstInItem = around !== undefined && around.first !== around.rest;
    if (!isFirstInItem) this.#wantsGap = true;
  }

  /** Adds a block of lines that stay unchanged. */
  addBlock(lines: readonly string[]): void {
    this.endBlock();
    for (const line of lines) this.#pushLine(line);
    this.#wantsGap = true;
  }

  /** Puts these marks before all lines until `endPrefix` is called. */
  beginPrefix(first: string, rest: string): void {
    this.endLine();
    const isTooDeep = this.#prefixes.length >= MAX_NESTED_MARKS;
    this.#prefixes.push(isTooDeep ? { first: "", rest: "" } : { first, rest });
  }

  endPrefix(): void {
    this.endLine();
    this.#prefixes.pop();
  }

  text(): string {
    this.endLine();
    return this.#lines.join("\n");
  }

  #pushLine(line: string): void {
    if (this.#wantsGap && this.#lines.length > 0) this.#lines.push(this.#takeMarks(true));
    this.#wantsGap = false;
    this.#lines.push((this.#takeMarks(false) + line).trimEnd());
  }

  /** Returns the marks for the next line. A list's mark comes once; an empty line before it has only outer marks. */
  #takeMarks(isGap: boolean): string {
    let marks = "";
    for (const prefix of this.#prefixes) {
      if (isGap && prefix.first !== prefix.rest) break;
      marks += prefix.first;
      if (!isGap) prefix.first = prefix.rest;
    }
    return isGap ? marks.trimEnd() : marks;
  }
}

export interface Mark {
  readonly line: number;
  readonly piece: number;
}

/** Escapes a line's start if it only looks like a Markdown mark. */
function escapeStart(line: string): string {
  return line
    .replace(/^(?:#{1,6}(?=\s)|[-+*](?=\s)|>|~~~|```(?!.*`))/, "\\$&")
    .replace(/^(\d{1,9})([.)])(?=\s)/, "$1\\$2");
}
