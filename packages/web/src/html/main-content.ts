import { createWordSet } from "@burin/contract/text/words";
import type { PageElement } from "./page-tree.ts";

/** Common names for the parts around a page's content. Such a name is a hint and never decides alone. */
const ASIDE_NAMES = createWordSet(`
  ad ads banner breadcrumb breadcrumbs comment comments consent cookie cookies footer header login masthead
  menu modal nav navbar navigation newsletter pagination popup promo related share sharing sidebar skip
  social subscribe toc toolbar widget`);
const ADVERT = /^(?:advert|sponsor)\w*$/;

function isAsideName(names: string): boolean {
  const words = names.toLowerCase().split(/[-_ ]/);
  return words.some((word) => ASIDE_NAMES.has(word) || ADVERT.test(word));
}

const CONTENT_NAME =
  /(?:^|[-_ ])(?:article|body|content|doc|docs|document|entry|main|markdown|page|post|prose|readme|story|text)(?:$|[-_ ])/i;
/** Readers' comments below an article may be longer than the article. */
const COMMENTS_NAME = /(?:^|[-_ ])(?:comments?|discussion|disqus\w*|replies|talkback)(?:$|[-_ ])/i;
const ASIDE_ROLES = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar".split(" "),
);
const PARAGRAPHS = new Set(["p", "pre", "blockquote", "td", "ul", "ol", "dl", "table", "h2", "h3"]);

const MAIN_SHARE = 0.7;
/** A part with less text is not an article, whatever it is called. */
const MIN_CHARACTERS = 140;

/** Finds the declared main part, otherwise the part with the paragraphs; null if no part stands out. */
export function findMainContent(body: PageElement) {
  const all = listElements(body);
  const surroundings = new Set(all.filter(isAside));
  let around = 0;
  for (const element of surroundings) if (!isInsideAny(element, surroundings)) around += element.text;
  const own = Math.max(1, body.text - around);
  const marked = findLargest(all.filter(isMarkedMain));
  if (marked && marked.text >= MIN_CHARACTERS && marked.text >= own * 0.25) return selectContent(marked);
  const article = findLargest(all.filter(({ name }) => name === "article"));
  if (article && article.text >= MIN_CHARACTERS && article.text >= own * 0.5) return selectContent(article);
  let dense = findDensest(all, surroundings);
  // A part that contains the page's heading only has the name, as on a page "with comments".
  const isCommentSection = (one: PageElement) => COMMENTS_NAME.test(readNames(one)) && !hasHeading(one);
  const comments = new Set(all.filter((one) => one !== body && isCommentSection(one)));
  const isComment = (one: PageElement) => comments.has(one) || isInsideAny(one, comments);
  // The siblings of the densest part may belong to the content, so go up until the part is most of the page.
  while (dense?.parent && (dense.text < own * MAIN_SHARE || isComment(dense))) dense = dense.parent;
  if (dense?.parent && dense.text >= MIN_CHARACTERS) return selectContent(dense);
  return around > 0 && own >= MIN_CHARACTERS ? selectContent(body) : null;
}

/** Returns the content, without what surrounds it on every page of the site. */
function selectContent(root: PageElement) {
  return { root, isLeftOut: (element: PageElement) => element !== root && isAside(element) };
}

function isMarkedMain({ name, attributes }: PageElement): boolean {
  return name === "main" || attributes.role === "main" || attributes.id === "main-content";
}

/** Whether this is navigation, or a box with such a name that contains little besides links. */
function isAside(element: PageElement): boolean {
  const { name, attributes, text, linked } = element;
  if (name === "nav" || name === "footer" || name === "dialog" || ASIDE_ROLES.has(attributes.role ?? ""))
    return true;
  if (name === "aside" || name === "form") return linked > text / 2 || text < MIN_CHARACTERS;
  if (name === "header") return !hasHeading(element);
  if (name !== "div" && name !== "section" && name !== "ul") return false;
  const names = readNames(element);
  if (names === " " || !isAsideName(names) || CONTENT_NAME.test(names)) return false;
  return linked > text * 0.5 || (text < MIN_CHARACTERS && !hasHeading(element));
}

function hasHeading(element: PageElement): boolean {
  return element.children.some(
    (child) => typeof child !== "string" && (child.name === "h1" || (child.text > 0 && hasHeading(child))),
  );
}

/** Returns the element whose own paragraphs have the most text outside links. */
function findDensest(
  all: readonly PageElement[],
  surroundings: ReadonlySet<PageElement>,
): PageElement | null {
  const scores = new Map<PageElement, number>();
  const addScore = (element: PageElement | null, score: number): void => {
    if (element !== null) scores.set(element, (scores.get(element) ?? scoreName(element)) + score);
  };
  for (const element of all) {
    const own = element.text - element.linked;
    if (!PARAGRAPHS.has(element.name) || own < 25) continue;
    const score = 1 + element.commas + Math.min(own / 100, 30);
    addScore(element.parent, score);
    addScore(element.parent?.parent ?? null, score / 2);
  }
  let best: PageElement | null = null;
  let max = 0;
  for (const [element, score] of scores) {
    const weighted = score * (1 - element.linked / Math.max(1, element.text));
    if (weighted <= max || isInsideAny(element, surroundings) || surroundings.has(element)) continue;
    best = element;
    max = weighted;
  }
  return best;
}

function readNames({ attributes }: PageElement): string {
  return `${attributes.class ?? ""} ${attributes.id ?? ""}`;
}

function scoreName(element: PageElement): number {
  const names = readNames(element);
  return (CONTENT_NAME.test(names) ? 25 : 0) - (isAsideName(names) ? 25 : 0);
}

function isInsideAny(element: PageElement, others: ReadonlySet<PageElement>): boolean {
  for (let one = element.parent; one !== null; one = one.parent) if (others.has(one)) return true;
  return false;
}

function findLargest(elements: readonly PageElement[]): PageElement | null {
  const pickLarger = (found: PageElement | null, one: PageElement) =>
    one.text > (found?.text ?? 0) ? one : found;
  return elements.reduce(pickLarger, null);
}

function listElements(root: PageElement): PageElement[] {
  const found: PageElement[] = [];
  const waiting = [root];
  for (let element = waiting.pop(); element !== undefined; element = waiting.pop()) {
    found.push(element);
    for (const child of element.children) if (typeof child !== "string") waiting.push(child);
  }
  return found;
}
