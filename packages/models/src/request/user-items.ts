import type { Message, Part } from "@burin/contract/messages/message";

interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** A part of a user message: a tool result, a file, or text. */
export type UserItem =
  | ({ readonly type: "answer"; readonly id: string; readonly name: string } & Answer)
  /** `origin` is the tool that returned the file; "" if the user gave it. */
  | { readonly type: "media"; readonly mimeType: string; readonly data: string; readonly origin: string }
  | { readonly type: "text"; readonly text: string };

export function listUserItems(parts: readonly Part[]): UserItem[] {
  let origin = "";
  return parts.flatMap(({ text, inlineData, functionResponse }): UserItem[] => {
    if (functionResponse) {
      const { id, name = "", response } = functionResponse;
      origin = name;
      return [{ type: "answer", id: id ?? name, name, ...readAnswer(response) }];
    }
    if (inlineData?.data) {
      const { mimeType = "", data } = inlineData;
      return [{ type: "media", mimeType, data, origin }];
    }
    // Next to other items, blank text says nothing, and services reject it.
    if (!text || !/\S/.test(text)) return [];
    // Whatever follows the user's own words does not come from the tool.
    if (!inlineData) origin = "";
    return [{ type: "text", text }];
  });
}

function readAnswer(response: Readonly<Record<string, unknown>> = {}): Answer {
  const { output, error } = response;
  if (typeof output === "string") return { text: output, isError: false };
  if (typeof error === "string") return { text: error, isError: true };
  return { text: Object.keys(response).length === 0 ? "" : JSON.stringify(response), isError: false };
}

/** Returns the items of a history by turn. Joins consecutive messages of the same role, and leaves out empty ones. */
export function groupTurns<Item>(
  history: readonly Message[],
  itemsOf: (message: Message) => readonly Item[],
): { readonly role: Message["role"]; readonly items: Item[] }[] {
  const turns: { readonly role: Message["role"]; readonly items: Item[] }[] = [];
  for (const message of history) {
    const items = itemsOf(message);
    const last = turns.at(-1);
    if (last?.role === message.role) last.items.push(...items);
    else if (items.length > 0) turns.push({ role: message.role, items: [...items] });
  }
  return turns;
}

/** Returns the result's text. It says if it is an error, for protocols that have no flag for that. */
export function formatAnswerText({ text, isError }: Answer): string {
  return isError ? `Error: ${text}` : text;
}

/** The image types that all vision services accept. Any other type would make them reject the whole request. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function isSupportedImage(mimeType = ""): boolean {
  return SHOWN_IMAGES.has(mimeType);
}

export function isSupportedMedia(mimeType: string): boolean {
  return isSupportedImage(mimeType) || mimeType === "application/pdf";
}
