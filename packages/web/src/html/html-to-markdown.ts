import { mainContent } from "./main-content.ts";
import { pageMarkdown } from "./page-markdown.ts";
import { type PageElement, readPageTree } from "./page-tree.ts";

export interface ReadPage {
  readonly title: string;
  readonly text: string;
  /** The text is the page's main part; navigation and the like were left out. */
  readonly isMainPart: boolean;
}

/** Where the main part holds so little of the page, it was not found. */
const LEAST_SHARE = 0.1;

/** The main content of a page as Markdown or as plain words, or all of it where no part is the main one. */
export function readHtmlPage(html: string, url: URL, isPlain: boolean): ReadPage {
  const { body, title, base: ownBase } = readPageTree(html);
  const base = URL.canParse(ownBase, url.href) ? new URL(ownBase, url.href) : url;
  const written = (root: PageElement, isLeftOut: (element: PageElement) => boolean): string =>
    pageMarkdown(root, { base, isLeftOut, isPlain });
  const main = mainContent(body);
  if (main !== null && main.root.text >= body.text * LEAST_SHARE) {
    const text = written(main.root, main.isLeftOut);
    if (text !== "") return { title, text, isMainPart: true };
  }
  return { title, text: written(body, () => false), isMainPart: false };
}
