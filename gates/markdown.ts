/** A part of a page that names something: text in backticks, in a fenced block, or in a link's target. */
interface Piece {
  readonly line: number;
  readonly text: string;
}

export interface Fence {
  /** The line of the opening fence. */
  readonly line: number;
  /** The word after the opening fence, such as `sh`. */
  readonly language: string;
  readonly lines: readonly string[];
}

export interface Page {
  readonly spans: readonly Piece[];
  readonly links: readonly Piece[];
  readonly fences: readonly Fence[];
  /** The fragments that a link can point to after `#`. */
  readonly anchors: ReadonlySet<string>;
}

/** Parses as much of Markdown as the gates need. */
export function readPage(text: string): Page {
  const spans: Piece[] = [];
  const links: Piece[] = [];
  const fences: Fence[] = [];
  const anchors = new Set<string>();
  let open: { mark: string; fence: Fence; lines: string[] } | null = null;
  for (const [index, content] of text.split("\n").entries()) {
    const line = index + 1;
    const [, mark = "", language = ""] = /^\s*(`{3,}|~{3,})\s*([^\s`]*)/.exec(content) ?? [];
    if (open !== null) {
      if (mark.startsWith(open.mark) && language === "") open = null;
      else open.lines.push(content);
    } else if (mark !== "") {
      const lines: string[] = [];
      open = { mark, lines, fence: { line, language, lines } };
      fences.push(open.fence);
    } else {
      for (const span of findCodeSpans(content)) spans.push({ line, text: span });
      for (const link of findLinkTargets(content)) links.push({ line, text: link });
      const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(content)?.[1];
      if (heading !== undefined) anchors.add(createAnchor(heading));
    }
  }
  return { spans, links, fences, anchors };
}

const CODE_SPAN = /(`+)(.+?)\1(?!`)/g;

function findCodeSpans(line: string): string[] {
  return [...line.matchAll(CODE_SPAN)].map((match) => match[2] ?? "");
}

function findLinkTargets(line: string): string[] {
  const prose = line.replace(CODE_SPAN, "");
  const found = [
    ...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g),
    ...prose.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/g),
    ...prose.matchAll(/\b(?:src|href)="([^"]+)"/g),
  ];
  return found.map((match) => match[1] ?? "");
}

/** Converts a heading to an anchor as GitHub does: lower case, hyphens for spaces, no punctuation. */
function createAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}
