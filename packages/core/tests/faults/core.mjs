// The built core, as a program outside would use it: these scripts run on any Node, also in child processes.
export const { createSession, createToolbox, resumeSession, undo, undoEntries } = await import(
  new URL("../../dist/index.js", import.meta.url).href
);
