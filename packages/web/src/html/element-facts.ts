import type { PageElement } from "./page-tree.ts";

/** They stand apart from what is around them, and are no more than what they hold. */
export const BLOCKS = new Set(
  "address article aside body center dd details dialog div dl fieldset figcaption figure footer form header hgroup main nav p section tbody td tfoot th thead tr".split(
    " ",
  ),
);
const HEADING = /^h[1-6]$/;
const LANGUAGE =
  /(?:^|\s)(?:lang(?:uage)?|highlight(?:-source)?|brush:?)[-:\s]([A-Za-z0-9+#.]{1,20})(?:$|[\s;])/;

export function codeSpan(text: string): string {
  if (!text.includes("`")) return `\`${text}\``;
  let fence = "``";
  for (const [ticks] of text.matchAll(/`+/g)) if (ticks >= fence) fence = `${ticks}\``;
  return `${fence} ${text} ${fence}`;
}

export function rawText(element: PageElement): string {
  let text = "";
  for (const child of element.children) {
    if (typeof child === "string") text += child;
    else if (child.name === "br") text += "\n";
    else if (child.name !== "button")
      text += rawText(child) + (child.name === "div" && !text.endsWith("\n") ? "\n" : "");
  }
  return text;
}

export function languageOf(element: PageElement): string {
  const code = element.children.find((child) => typeof child !== "string" && child.name === "code");
  const candidates = [
    element,
    typeof code === "object" ? code : null,
    element.parent,
    element.parent?.parent,
  ];
  for (const candidate of candidates) {
    const { attributes } = candidate ?? {};
    const named = attributes?.["data-lang"] ?? attributes?.["data-language"];
    const language = named ?? LANGUAGE.exec(attributes?.class ?? "")?.[1];
    if (language !== undefined && /^[\w+#.-]{1,20}$/.test(language)) return language;
  }
  return "";
}

export function holdsBlock(element: PageElement): boolean {
  return element.children.some(
    (child) =>
      typeof child !== "string" &&
      (BLOCKS.has(child.name) || HEADING.test(child.name) || child.name === "ul" || holdsBlock(child)),
  );
}

export function annotationOf(element: PageElement): string {
  for (const child of element.children) {
    if (typeof child === "string") continue;
    const found = child.name === "annotation" ? rawText(child) : annotationOf(child);
    if (found !== "") return found;
  }
  return "";
}
