/** How the screen looks during this run. Set once, when the settings are known. */
export const look = {
  /** true for a screen reader: no frames, words instead of symbols, and nothing that changes by itself. */
  isSpoken: false,
  /** Whether changes are shown side by side if there is room. With null, only in a wide window. */
  isSideBySide: null as boolean | null,
};
