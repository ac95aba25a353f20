/** Deeper, marks would be longer than lines. */
const MOST_NESTED_MARKS = 24;

/** Collects lines of Markdown: blocks apart by one blank line, each line behind the marks of what it stands in. */
export class MarkdownLines {
  readonly #lines: string[] = [];
  readonly #prefixes: { first: string; readonly rest: string }[] = [];
  /** Of the open line; single, so that a part of a long line is taken back at the cost of that part. */
  readonly #pieces: string[] = [];
  #wantsGap = false;
  /** The address that the next line with words links to as a whole. */
  lineLink = "";
  readonly isPlain: boolean;

  /** Plain lines are for reading as they are: nothing in them is escaped. */
  constructor(isPlain: boolean) {
    this.isPlain = isPlain;
  }

  /** Where the words of the open line end. */
  get mark(): Mark {
    return { line: this.#lines.length, piece: this.#pieces.length };
  }

  /** Text inside a line: blanks fall together, and none begins a line. */
  words(text: string): void {
    const flat = text.replace(/[\t\n\f\r ]+/g, " ");
    const before = this.#pieces.at(-1) ?? " ";
    const isAtBlank = before.endsWith(" ") || before.endsWith("\n");
    this.exactly(isAtBlank && flat.startsWith(" ") ? flat.slice(1) : flat);
  }

  /** The same with its blanks, e.g. code. */
  exactly(text: string): void {
    if (text !== "") this.#pieces.push(text);
  }

  lineBreak(): void {
    this.#pieces.push("\n");
  }

  /** What was written since the mark is taken back and returned; null when a line has ended meanwhile. */
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
      this.#push(isHeading || this.isPlain ? line.trim() : escapedStart(line.trim()));
    }
  }

  endBlock(): void {
    this.endLine();
    const around = this.#prefixes.at(-1);
    const isFirstInItem = around !== undefined && around.first !== around.rest;
    if (!isFirstInItem) this.#wantsGap = true;
  }

  /** A block of lines that stay as they are. */
  block(lines: readonly string[]): void {
    this.endBlock();
    for (const line of lines) this.#push(line);
    this.#wantsGap = true;
  }

  /** All lines until `leave` stand behind these marks. */
  enter(first: string, rest: string): void {
    this.endLine();
    const isTooDeep = this.#prefixes.length >= MOST_NESTED_MARKS;
    this.#prefixes.push(isTooDeep ? { first: "", rest: "" } : { first, rest });
  }

  leave(): void {
    this.endLine();
    this.#prefixes.pop();
  }

  text(): string {
    this.endLine();
    return this.#lines.join("\n");
  }

  #push(line: string): void {
    if (this.#wantsGap && this.#lines.length > 0) this.#lines.push(this.#marks(true));
    this.#wantsGap = false;
    this.#lines.push((this.#marks(false) + line).trimEnd());
  }

  /** A list's mark stands once, before its first line; a blank line before it has only what is around it. */
  #marks(isGap: boolean): string {
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

/** Words that only look like a mark of Markdown. */
function escapedStart(line: string): string {
  return line
    .replace(/^(?:#{1,6}(?=\s)|[-+*](?=\s)|>|~~~|```(?!.*`))/, "\\$&")
    .replace(/^(\d{1,9})([.)])(?=\s)/, "$1\\$2");
}
