import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";

/** A piece of reasoning as OpenRouter gives it; all of them go back as they came, in order. */
export type ReasoningDetail = Record<string, unknown>;

/** What grows from chunk to chunk; everything else comes once. */
const GROWING = ["text", "summary", "data"] as const;

/** Takes the details of one chunk into the list, and gives the words in them. */
export function readDetails(given: unknown, known: ReasoningDetail[]): string {
  if (!Array.isArray(given)) return "";
  let words = "";
  for (const detail of given.filter(isRecord)) {
    const said = detail.text ?? detail.summary;
    if (typeof said === "string") words += said;
    const last = known.at(-1);
    if (last && continues(last, detail)) grow(last, detail);
    else known.push({ ...detail });
  }
  return words;
}

function continues(last: ReasoningDetail, { type, index, id }: JsonRecord): boolean {
  const isSameId =
    id === undefined || id === null || last.id === undefined || last.id === null || last.id === id;
  return type !== "reasoning.encrypted" && last.type === type && last.index === index && isSameId;
}

function grow(last: ReasoningDetail, detail: JsonRecord): void {
  for (const [key, value] of Object.entries(detail)) {
    const before = last[key];
    const isText = typeof value === "string" && typeof before === "string";
    if (isText && GROWING.some((name) => name === key)) last[key] = before + value;
    else if (value !== null && value !== undefined && value !== "") last[key] = value;
  }
}
