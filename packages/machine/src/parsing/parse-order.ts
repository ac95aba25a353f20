export type PageFormat = "markdown" | "text" | "html";

/** The text of a response as it came. */
export interface RawPage {
  readonly raw: string;
  readonly url: string;
  readonly mimeType: string;
  readonly format: PageFormat;
}

export interface ShapedPage {
  readonly title: string;
  readonly text: string;
  /** What the reader should know about the text. */
  readonly notes: readonly string[];
}

/** The parsers that run outside the main thread, by name: content from outside may take long or much memory. */
export interface Parsers {
  page(page: RawPage): Promise<ShapedPage>;
  pdf(bytes: Uint8Array): Promise<string>;
  notebook(text: string): Promise<string | null>;
}

export type ParserName = keyof Parsers;
export type ParserInput<Name extends ParserName> = Parameters<Parsers[Name]>[0];
export type Parsed<Name extends ParserName> = Awaited<ReturnType<Parsers[Name]>>;

/** The data that a worker is started with. */
export interface ParseOrder {
  readonly name: ParserName;
  readonly input: unknown;
}

/** The one message that it sends. */
export type ParseAnswer =
  | { readonly value: unknown }
  | { readonly fault: { readonly type: string; readonly message: string } };
