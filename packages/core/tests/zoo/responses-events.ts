import { GLOB, GLOB_JSON, READ } from "./shape.ts";

export const E = (name: string, fields: object = {}) => ({ type: `response.${name}`, ...fields });
export const CREATED = E("created", { response: { id: "r", status: "in_progress", output: [] } });
export const usage = { input_tokens: 3, output_tokens: 1, input_tokens_details: { cached_tokens: 2 } };
export const ended = (name: string, fields: object = {}) =>
  E(name, { response: { id: "r", status: name, usage, output: [], ...fields } });
export const DONE = ended("completed");
export const added = (output_index: number, item: object) => E("output_item.added", { output_index, item });
export const done = (output_index: number, item: object) => E("output_item.done", { output_index, item });
export const message = (text: string) => ({
  id: "m",
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
export const textDelta = (delta: string, output_index = 0) =>
  E("output_text.delta", { output_index, item_id: "m", content_index: 0, delta });
export const HELLO_AT = (index: number) => [
  added(index, { id: "m", type: "message", content: [] }),
  textDelta("Hel", index),
  textDelta("lo", index),
  E("output_text.done", { output_index: index, text: "Hello" }),
  done(index, message("Hello")),
];
export const call = (call_id: unknown, name: string, given: unknown) => ({
  id: `fc_${String(call_id)}`,
  type: "function_call",
  call_id,
  name,
  arguments: given,
});
export const argsDelta = (output_index: number, delta: string) =>
  E("function_call_arguments.delta", { output_index, delta });
export const callAt = (index: number, [id, name]: [unknown, string], ...pieces: string[]) => [
  added(index, call(id, name, "")),
  ...pieces.map((piece) => argsDelta(index, piece)),
  E("function_call_arguments.done", { output_index: index, arguments: pieces.join("") }),
  done(index, call(id, name, pieces.join(""))),
];
export const readAt = (index: number, id: unknown = "A") =>
  callAt(index, [id, "read_file"], '{"pa', 'th":"a.ts"}');
export const globAt = (index: number, id: unknown = "B") => callAt(index, [id, "glob"], GLOB_JSON);
export const reasoning = (texts: string[], more: object = {}) => ({
  id: "rs",
  type: "reasoning",
  summary: texts.map((text) => ({ type: "summary_text", text })),
  ...more,
});
export const summaryDelta = (delta: string) =>
  E("reasoning_summary_text.delta", { output_index: 0, item_id: "rs", summary_index: 0, delta });
export const HELLO = { text: "Hello" };
export const BOTH = { calls: [READ, GLOB] };
