/** How the screen of this run looks; set once, when its settings are known. */
export const look = {
  /** For a screen reader: no frames, no symbols instead of words, and nothing changes by itself. */
  isSpoken: false,
  /** Changes are shown side by side if there is room; null: in a wide window. */
  isSideBySide: null as boolean | null,
};
