/** How the screen of this run looks; set once, when its settings are known. */
export const look = {
  /** For a screen reader: nothing is framed, no sign stands for a word, and nothing changes by itself. */
  isSpoken: false,
  /** Changes stand side by side where there is room. */
  isSideBySide: false,
};
