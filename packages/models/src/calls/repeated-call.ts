import type { ModelRequest } from "@burin/contract/chat-model";
import type { Part } from "@burin/contract/messages/message";
import type { WrittenCall } from "./text-call-forms.ts";

/** The maximum number of letters between the tool's name and its last value, not counting the values. */
const MAX_BETWEEN = 60;
/** Shorter values occur everywhere, so they are not compared. */
const MIN_LETTERS = 6;

/**
 * Whether a call in the model's text also occurs in what the model was sent. If so, the model may only be quoting a
 * file, and that file's author would cause the call. Only letters are compared, so line numbers, escapes and other
 * brackets make no difference, and the same name and values in another format also match.
 */
export function isAlreadyInHistory(
  call: WrittenCall,
  written: string,
  { system, history }: ModelRequest,
): boolean {
  const text = keepLetters(written);
  const name = keepLetters(call.name);
  const values = Object.values(call.args).map((value) =>
    keepLetters(typeof value === "string" ? value : JSON.stringify(value)),
  );
  const occursInText = (told: string): boolean => {
    const letters = keepLetters(told);
    return letters.includes(text) || containsNameAndValues(letters, name, values);
  };
  const occursInSentPart = ({ text: words = "", functionResponse: answer }: Part) =>
    occursInText(answer ? JSON.stringify(answer.response ?? "") : words);
  return (
    occursInText(system) || history.some(({ role, parts }) => role === "user" && parts.some(occursInSentPart))
  );
}

function containsNameAndValues(letters: string, name: string, values: readonly string[]): boolean {
  const length = values.join("").length;
  if (length < MIN_LETTERS) return false;
  for (let at = letters.indexOf(name); at !== -1; at = letters.indexOf(name, at + 1)) {
    const behind = letters.slice(at + name.length, at + name.length + length + MAX_BETWEEN);
    if (values.every((value) => behind.includes(value))) return true;
  }
  return false;
}

/** Returns only the letters of a text. Removes JSON escapes first, because they contain letters. */
function keepLetters(text: string): string {
  return text.replace(/(?<!\\)\\+(?:u[0-9a-f]{4}|[nrtbf])/gi, "").replace(/[^\p{L}]+/gu, "");
}
