/** The text of a pattern, read character by character. */
export class PatternText {
  readonly points: readonly string[];
  at = 0;

  constructor(text: string) {
    this.points = [...text];
  }

  peek(): string | undefined {
    return this.points[this.at];
  }

  /** Empty at the end. */
  next(): string {
    const character = this.peek() ?? "";
    this.at += 1;
    return character;
  }

  /** Passes the character if it is the next one. */
  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  /** Passes the hyphen of a range in brackets; before their end it is a plain character. */
  takeRangeSign(): boolean {
    const following = this.points[this.at + 1];
    return following !== "]" && following !== undefined && this.take("-");
  }

  /** Passes what the expression finds here, and returns it. */
  takeMatch(expression: RegExp, most = 24): RegExpExecArray | null {
    const found = expression.exec(this.ahead(most));
    this.at += found?.[0].length ?? 0;
    return found;
  }

  ahead(most: number): string {
    return this.points.slice(this.at, this.at + most).join("");
  }
}
