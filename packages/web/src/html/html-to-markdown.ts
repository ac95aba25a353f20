import { mainContent } from "./main-content.ts";
import { pageMarkdown } from "./page-markdown.ts";
import { type PageElement, readPageTree } from "./page-tree.ts";

export interface ReadPage {
  readonly title: string;
  readonly text: string;
  /** The text is the page's main part, without navigation and the like. */
  readonly isMainPart: boolean;
}

/** If the main part is a smaller share of the page than this, it was not found. */
const LEAST_SHARE = 0.1;

/** The main content of a page as Markdown or as plain text, or the whole page if it has no main part. */
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
