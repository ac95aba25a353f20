/** What the shell tool needs to wait for a command and to tell of it, as one thing to load with the first. */

export { sandboxRefusal } from "../sandbox/sandbox-refusal.ts";
export { endOrStop, MOST_LIVE_CHARACTERS, showLive } from "./command-wait.ts";
export {
  backgroundInWords,
  endInWords,
  limitsInWords,
  processesInWords,
  stateInWords,
  takenInWords,
  whereAndWhen,
} from "./command-words.ts";
export { outputTail, outputText } from "./output-text.ts";
