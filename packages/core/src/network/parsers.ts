import type { RawPage } from "./shape-page.ts";

/** What is parsed beside the main thread, by name: content from outside that can be made to take long or much. */
export const PARSERS = {
  page: async (page: RawPage) => (await import("./shape-page.ts")).shapePage(page),
  pdf: async (bytes: Uint8Array) => (await import("./pdf-text.ts")).pdfText(bytes),
  notebook: async (text: string) => (await import("../text/notebook.ts")).notebookText(text),
};

type Parsers = typeof PARSERS;
export type ParserName = keyof Parsers;
export type ParserInput<Name extends ParserName> = Parameters<Parsers[Name]>[0];
export type Parsed<Name extends ParserName> = Awaited<ReturnType<Parsers[Name]>>;

/** What a worker is started with. */
export interface ParseOrder {
  readonly name: ParserName;
  readonly input: unknown;
}

/** What it says, once. */
export type ParseAnswer =
  | { readonly value: unknown }
  | { readonly fault: { readonly type: string; readonly message: string } };
