import { parse } from "yaml";

export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The Markdown below. */
  readonly body: string;
}

/** A Markdown file with YAML between two lines of dashes at its top. Throws what is wrong, with the line. */
export function frontMatter(text: string): FrontMatter {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (match === null || match.index !== 0) return { fields: {}, body: text.trim() };
  const fields: unknown = parse(match[1] ?? "", { maxAliasCount: 0 }) ?? {};
  if (typeof fields !== "object" || Array.isArray(fields)) {
    throw new Error("The front matter between the --- lines must be a list of `name: value`.");
  }
  return { fields: fields as Record<string, unknown>, body: text.slice(match[0].length).trim() };
}
