/** What the shell tool needs to tell of a command, as one thing to load with the first of them. */
export {
  backgroundInWords,
  endInWords,
  processesInWords,
  stateInWords,
  whereAndWhen,
} from "./command-words.ts";
export { outputTail, outputText } from "./output-text.ts";
export { sandboxRefusal } from "./sandbox-refusal.ts";
