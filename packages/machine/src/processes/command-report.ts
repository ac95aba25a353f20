/** What the shell tool needs to wait for a command and to tell of it, as one thing to load with the first. */
export { endOrStop, MOST_LIVE_CHARACTERS, showLive } from "./command-wait.ts";
export {
  backgroundInWords,
  endInWords,
  limitsInWords,
  processesInWords,
  sandboxRefusal,
  stateInWords,
  takenInWords,
  whereAndWhen,
} from "./command-words.ts";
export { outputTail, outputText } from "./output-text.ts";
