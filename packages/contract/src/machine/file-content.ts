/** A run of lines of a text file. Line numbers are counted from 1, both ends included. */
export interface TextLines {
  readonly kind: "text";
  /** The lines as they are in the file, line ends included, each cut at the length asked for. */
  readonly text: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /** How many of the lines shown were cut by length. */
  readonly linesCut: number;
}

/** An image or a document that a model can look at. */
export interface MediaContent {
  readonly kind: "media";
  readonly mimeType: string;
  readonly base64: string;
  readonly bytes: number;
  /** What is missing of an image that does not end. */
  readonly note?: string;
}

/** Content that nobody can read here. */
interface BinaryContent {
  readonly kind: "binary";
}

/** What a file holds, told by its bytes and never by its name. */
export type FileContent = TextLines | MediaContent | BinaryContent;

export interface LineRange {
  /** 0-based first line. */
  readonly offset: number;
  readonly limit: number;
  /** Longer lines are cut there. */
  readonly mostLineCharacters: number;
  /** Most characters in all; lines beyond are left out as if `limit` were smaller. Without it there is no such bound. */
  readonly mostCharacters?: number;
  /** Gives an SVG image as the text that it is. */
  readonly svgAsText?: boolean;
}
