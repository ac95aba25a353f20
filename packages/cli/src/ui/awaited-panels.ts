import { createInputPanel, openChoicePanel } from "./choice-panel.ts";
import type { Panel } from "./panel.ts";

interface Desk {
  show(panel: Panel | null): void;
}

type ChoiceOptions = Omit<Parameters<typeof openChoicePanel>[1], "chosen" | "none">;
type TextOptions = Omit<Parameters<typeof createInputPanel>[0], "done">;

/** Asks for a choice. Resolves to the chosen value; null when the user goes back. */
export function askChoice(desk: Desk, needs: ChoiceOptions): Promise<string | null> {
  return new Promise((resolve) => {
    openChoicePanel(desk, { ...needs, chosen: resolve, none: () => resolve(null) });
  });
}

/** Asks for a text. Resolves to it; null when the user goes back. With `until`, whichever comes first counts. */
export function askText(desk: Desk, needs: TextOptions, until?: Promise<string>): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const closeWithText = (text: string | null): void => {
      desk.show(null);
      resolve(text);
    };
    until?.then(closeWithText, reject);
    desk.show(createInputPanel({ ...needs, done: closeWithText }));
  });
}
