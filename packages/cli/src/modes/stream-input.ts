import { createInterface } from "node:readline";
import { UsageError } from "../terminal/exit-code.ts";

/** The first prompt where there is one, then those on stdin, one JSON object a line, each as soon as it is there. */
export async function* promptsOnStdin(first: string): AsyncGenerator<string> {
  if (first !== "") yield first;
  let number = 0;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() !== "") yield promptIn(line, number);
  }
}

function promptIn(line: string, number: number): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw wrong(number, error instanceof Error ? error.message : String(error));
  }
  if (typeof value !== "object" || value === null) throw wrong(number, "it is no object");
  const { type, text } = value as { readonly type?: unknown; readonly text?: unknown };
  if (type !== "user" || typeof text !== "string" || text.trim() === "") {
    throw wrong(number, "it says no prompt");
  }
  return text;
}

function wrong(number: number, why: string): UsageError {
  return new UsageError(`line ${number} of stdin is not {"type":"user","text":"..."}: ${why}.`);
}
