import type { Message, Part } from "@burin/contract/messages/message";

interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** A part of a user message: a tool result, a file, or text. */
export type UserItem =
  | ({ readonly type: "answer"; readonly id: string; readonly name: string } & Answer)
  /** `origin`: the tool that returned the file; empty if the user gave it. */
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
    // Beside other items blank words say nothing, and services refuse them.
    if (!text || !/\S/.test(text)) return [];
    // What follows the user's own words does not come from the tool.
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

/** The items of a history; messages of the same role in a row are joined, and empty ones left out. */
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

/** The result, where the protocol has no flag for an error, so the text must say it. */
export function formatAnswerText({ text, isError }: Answer): string {
  return isError ? `Error: ${text}` : text;
}

/** The image types that all vision services accept; any other would make them refuse the whole request. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function isSupportedImage(mimeType = ""): boolean {
  return SHOWN_IMAGES.has(mimeType);
}

export function isSupportedMedia(mimeType: string): boolean {
  return isSupportedImage(mimeType) || mimeType === "application/pdf";
}
