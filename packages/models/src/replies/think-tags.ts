/** A piece of content. With `takesText`, all text before it was a thought as well. */
export interface ContentPiece {
  readonly text: string;
  readonly isThought: boolean;
  readonly takesText?: true;
}

/** The marks of gpt-oss channels, which some servers pass on: what the model thinks, and what it answers. */
const CHANNELS = ["analysis", "final"].flatMap((channel) => {
  const opening = `<|channel|>${channel}<|message|>`;
  return [opening, `<|start|>assistant${opening}`];
});
const OPENINGS = [
  ..."<think> <mm:think> <thinking> <thought> <reasoning> <seed:think> [THINK] ◁think▷".split(" "),
  ...CHANNELS,
];
/** Stops waiting for a tag after this much white space: some models write endless line breaks. */
const MAX_BLANK = 1000;
/** Matches a closing tag at one end of a line. An answer may also mention the tag elsewhere. */
const LONE = /(?:(?<=\n)[ \t]*<\/(?:mm:)?think>|<\/(?:mm:)?think>(?=[ \t]*\n))/;

/** Separates thoughts in tags from content. A lone closing tag makes all text before it a thought. */
export class ThinkTags {
  #state: "start" | "thinking" | "text" = "start";
  #closing = "";
  #pending = "";
  #mayBeLone = true;
  /** The character before the pending text. The start of a reply counts as the start of a line. */
  #before = "\n";
  /** The number of backticks so far: a tag between two of them is only mentioned. */
  #ticks = 0;

  add(piece: string): ContentPiece[] {
    this.#pending += piece;
    return this.#takePieces(false);
  }

  finish(): ContentPiece[] {
    return this.#takePieces(true);
  }

  #takePieces(isWhole: boolean): ContentPiece[] {
    const taken: ContentPiece[] = [];
    for (let state: string = ""; state !== this.#state && this.#pending !== ""; ) {
      state = this.#state;
      taken.push(...this.#readState(isWhole));
    }
    return taken.filter(({ text, takesText }) => text !== "" || takesText);
  }

  #readState(isWhole: boolean): ContentPiece[] {
    if (this.#state === "start") return this.#readStart(isWhole);
    return this.#state === "thinking" ? this.#readThought(isWhole) : this.#readText(isWhole);
  }

  #readStart(isWhole: boolean): ContentPiece[] {
    const start = this.#pending.trimStart();
    const opening = OPENINGS.find((tag) => start.startsWith(tag));
    if (opening !== undefined) {
      this.#closing = CHANNELS.includes(opening) ? "<|end|>" : `${opening[0]}/${opening.slice(1)}`;
      this.#state = opening.includes("final") ? "text" : "thinking";
      this.#mayBeLone = false;
      this.#pending = start.slice(opening.length).replace(/^\r?\n/, "");
      return [];
    }
    if (!isWhole && this.#pending.length < MAX_BLANK && OPENINGS.some((tag) => tag.startsWith(start)))
      return [];
    // The blank lines after a thought belong to it.
    if (this.#closing !== "") this.#pending = start;
    this.#state = "text";
    return [];
  }

  #readThought(isWhole: boolean): ContentPiece[] {
    const end = this.#pending.indexOf(this.#closing);
    if (end !== -1) {
      const text = this.#pending.slice(0, end);
      this.#pending = this.#pending.slice(end + this.#closing.length).trimStart();
      this.#state = "start";
      return [{ text, isThought: true }];
    }
    return [
      { text: this.#passText(isWhole ? 0 : findTagStart(this.#closing, this.#pending)), isThought: true },
    ];
  }

  #readText(isWhole: boolean): ContentPiece[] {
    const { length } = this.#before;
    const whole = this.#before + this.#pending + (isWhole ? "\n" : "");
    const found = this.#mayBeLone ? LONE.exec(whole) : null;
    const text = found ? this.#pending.slice(0, found.index - length) : "";
    if (found && (this.#ticks + countTicks(text)) % 2 === 0) {
      this.#pending = this.#pending.slice(found.index - length + found[0].length).trimStart();
      this.#mayBeLone = false;
      return [{ text, isThought: true, takesText: true }];
    }
    // The tag and the text on both sides of it must be complete.
    const tags = this.#mayBeLone && !isWhole ? ["\n</think>\n", "\n</mm:think>\n"] : [];
    const kept = Math.max(0, ...tags.map((tag) => findTagStart(tag, this.#pending)));
    return [{ text: this.#passText(kept), isThought: false }];
  }

  #passText(kept: number): string {
    const text = this.#pending.slice(0, this.#pending.length - kept);
    this.#pending = this.#pending.slice(text.length);
    this.#ticks += countTicks(text);
    this.#before = text.slice(-1) || this.#before;
    return text;
  }
}

function countTicks(text: string): number {
  return text.split("`").length - 1;
}

/** Returns how much of the text's end may be the beginning of the tag, with or without the line break before it. */
function findTagStart(tag: string, text: string): number {
  const forms = tag.startsWith("\n") ? [tag, tag.slice(1)] : [tag];
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (forms.some((form) => form.length > length && form.startsWith(text.slice(-length)))) return length;
  }
  return 0;
}
