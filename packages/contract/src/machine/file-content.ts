/** A range of lines of a text file. Line numbers start at 1, and both ends are included. */
export interface TextLines {
  readonly kind: "text";
  /** The lines as in the file, with line ends, each cut at the requested length. */
  readonly text: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /** How many of the lines shown were cut for their length. */
  readonly linesCut: number;
}

/** An image or a document that a model can look at. */
export interface MediaContent {
  readonly kind: "media";
  readonly mimeType: string;
  readonly base64: string;
  readonly bytes: number;
  /** What is missing from an incomplete image. */
  readonly note?: string;
}

/** The content of a file, recognized by its bytes and never by its name; binary content cannot be read here. */
export type FileContent = TextLines | MediaContent | { readonly kind: "binary" };

export interface LineRange {
  /** 0-based first line. */
  readonly offset: number;
  readonly limit: number;
  /** Longer lines are cut at this length. */
  readonly mostLineCharacters: number;
  /** Most characters in total; lines beyond it are left out as if `limit` were smaller. Default: no limit. */
  readonly mostCharacters?: number;
  /** Returns an SVG image as its source text. */
  readonly svgAsText?: boolean;
}
