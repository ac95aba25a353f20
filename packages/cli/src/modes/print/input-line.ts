import type { Part } from "@burin/core";
import { messageOf } from "@burin/core";

/** A text of the user, with any images or files. */
export interface Words {
  readonly text: string;
  readonly files: readonly Part[];
}

/** One line from a program on stdin. */
export type InputLine =
  | ({ readonly type: "user" | "steer" } & Words)
  | { readonly type: "interrupt" }
  | { readonly type: "answer"; readonly id: string; readonly decision: unknown }
  | { readonly type: "fault"; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

const SHAPES =
  'write {"type":"user","text":"..."} (with "parts" for images and files), {"type":"steer","text":"..."}, {"type":"interrupt"} or {"type":"answer","id":"...","decision":{...}}';

export function readInputLine(line: string): InputLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return fault(`it is not valid JSON (${messageOf(error)})`);
  }
  if (!isFields(value)) return fault("it is not an object");
  const { type, id, decision } = value;
  switch (type) {
    case "user":
    case "steer": {
      const words = wordsIn(value);
      return typeof words === "string" ? fault(words) : { type, ...words };
    }
    case "interrupt":
      return { type };
    case "answer":
      return typeof id === "string" ? { type, id, decision } : fault('it has no "id"');
    default:
      return fault(type === undefined ? 'it has no "type"' : `its type is ${JSON.stringify(type)}`);
  }
}

/** Returns the words, or what is wrong with them. */
function wordsIn({ text = "", parts = [] }: Fields): Words | string {
  if (typeof text !== "string") return '"text" must be a string';
  if (!Array.isArray(parts) || !parts.every(isPart))
    return '"parts" must be a list of {"text":"..."} and {"inlineData":{"mimeType":"...","data":"<base64>"}}';
  const said = [text, ...parts.flatMap((part) => part.text ?? [])].filter((words) => words.trim() !== "");
  const files = parts.filter((part) => part.inlineData !== undefined);
  if (said.length + files.length === 0) return 'it has no "text" and no "parts"';
  return { text: said.join("\n\n"), files };
}

function isPart(part: unknown): part is Part {
  if (!isFields(part)) return false;
  const { text, inlineData } = part;
  if (inlineData === undefined) return typeof text === "string";
  if (text !== undefined || !isFields(inlineData)) return false;
  const { mimeType, data } = inlineData;
  return typeof mimeType === "string" && typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function fault(why: string): InputLine {
  return { type: "fault", message: `${why}; ${SHAPES}.` };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
