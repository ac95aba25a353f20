/** How the screen of this run looks; set once, when its settings are known. */
export const look = {
  /** For a screen reader: nothing is framed, no sign stands for a word, and nothing changes by itself. */
  isSpoken: false,
};
