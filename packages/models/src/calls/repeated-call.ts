import type { ModelRequest } from "@burin/contract/chat-model";
import type { Part } from "@burin/contract/messages/message";
import type { WrittenCall } from "./text-call-forms.ts";

/** Between the name of a tool and the last of its values, not counting the values. */
const MAX_BETWEEN = 60;
/** Shorter values occur everywhere. */
const MIN_LETTERS = 6;

/**
 * Whether a call in the model's text also occurs in what the model was sent. Then the model may only repeat a file
 * that it has read, and the file's author would run the call. Only letters are compared, so that line numbers,
 * escapes and other brackets make no difference; the same name and values in another format count as well.
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
  const stands = (told: string): boolean => {
    const letters = keepLetters(told);
    return letters.includes(text) || areInOrder(letters, name, values);
  };
  const isSent = ({ text: words = "", functionResponse: answer }: Part) =>
    stands(answer ? JSON.stringify(answer.response ?? "") : words);
  return stands(system) || history.some(({ role, parts }) => role === "user" && parts.some(isSent));
}

function areInOrder(letters: string, name: string, values: readonly string[]): boolean {
  const length = values.join("").length;
  if (length < MIN_LETTERS) return false;
  for (let at = letters.indexOf(name); at !== -1; at = letters.indexOf(name, at + 1)) {
    const behind = letters.slice(at + name.length, at + name.length + length + MAX_BETWEEN);
    if (values.every((value) => behind.includes(value))) return true;
  }
  return false;
}

/** JSON escapes contain letters of their own, so they are removed first. */
function keepLetters(text: string): string {
  return text.replace(/(?<!\\)\\+(?:u[0-9a-f]{4}|[nrtbf])/gi, "").replace(/[^\p{L}]+/gu, "");
}
