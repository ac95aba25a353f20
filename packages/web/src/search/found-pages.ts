export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** The day, if the service reports one. */
  readonly date?: string;
}

const MAX_SNIPPET_CHARACTERS = 700;

/** The names that services and servers use for the parts of a result. The first one with a value is used. */
const URL_NAMES = ["url", "link", "href", "uri"];
const TITLE_NAMES = ["title", "name", "heading"];
const SNIPPET_NAMES = ["snippet", "highlights", "description", "content", "summary", "text"];
const DATE_NAMES = ["date", "publishedDate", "published_date", "published", "page_age"];

/** Returns a field of a response whose shape is unknown. */
export function readField(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

export function readTextField(value: unknown, ...path: readonly string[]): string {
  const found = readField(value, ...path);
  return typeof found === "string" ? found : "";
}

export function readListField(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = readField(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the text of the first name that has one. A list of texts counts as well. */
function readFirstText(row: unknown, names: readonly string[]): string {
  for (const name of names) {
    const found =
      readTextField(row, name) ||
      readListField(row, name)
        .filter((one) => typeof one === "string")
        .join(" ");
    if (found !== "") return found;
  }
  return "";
}

export function readUrl(result: unknown): string {
  return readFirstText(result, URL_NAMES);
}

export function readFoundPage(result: unknown): FoundPage {
  const snippet = [readFirstText(result, SNIPPET_NAMES), readFirstText(result, ["extra_snippets"])].join(" ");
  return {
    title: readFirstText(result, TITLE_NAMES),
    url: readUrl(result),
    snippet,
    date: readFirstText(result, DATE_NAMES),
  };
}

/** Returns distinct web pages, at most as many as requested, with their texts on single lines. */
export function listDistinctPages(found: readonly FoundPage[], max: number): FoundPage[] {
  const pages = new Map<string, FoundPage>();
  for (const { title, url, snippet, date = "" } of found) {
    if (pages.size === max) break;
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url) || pages.has(url)) continue;
    const words = removeHighlightTags(snippet);
    const isLong = words.length > MAX_SNIPPET_CHARACTERS;
    pages.set(url, {
      title: removeHighlightTags(title) || url,
      url: new URL(url).href,
      snippet: isLong ? `${words.slice(0, MAX_SNIPPET_CHARACTERS)} ...` : words,
      ...(/^\d{4}-\d\d/.test(date) ? { date: date.slice(0, 10) } : {}),
    });
  }
  return [...pages.values()];
}

/** Removes the tags with which services mark the search words. Snippets contain no other tags. */
function removeHighlightTags(text: string): string {
  return text
    .replace(/<\/?(?:strong|b|em|mark|span)\b[^>]{0,200}>/gi, "")
    .replace(/\s+/g, " ")
    .trim();
}
