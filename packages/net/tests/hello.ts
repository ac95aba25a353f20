/** What a model says that says hello. */
export const HELLO = [
  { type: "text", text: "Hello" },
  { type: "end", reason: "stop" },
];
