import { mainContent } from "./main-content.ts";
import { pageMarkdown } from "./page-markdown.ts";
import { readPageTree } from "./page-tree.ts";

/** If the main part is a smaller share of the page than this, it was not found. */
const LEAST_SHARE = 0.1;

/** The main content of a page as Markdown or as plain text, or the whole page if it has no main part. */
export function readHtmlPage(html: string, url: URL, isPlain: boolean) {
  const { body, title, base: ownBase } = readPageTree(html);
  const base = URL.canParse(ownBase, url.href) ? new URL(ownBase, url.href) : url;
  const main = mainContent(body);
  if (main !== null && main.root.text >= body.text * LEAST_SHARE) {
    const text = pageMarkdown(main.root, { base, isPlain, isLeftOut: main.isLeftOut });
    if (text !== "") return { title, text, isMainPart: true };
  }
  const text = pageMarkdown(body, { base, isPlain, isLeftOut: () => false });
  return { title, text, isMainPart: false };
}
