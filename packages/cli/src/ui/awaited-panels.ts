import { createInputPanel, openChoicePanel } from "./choice-panel.ts";
import type { Panel } from "./panel.ts";

interface Desk {
  show(panel: Panel | null): void;
}

type ChoiceNeeds = Omit<Parameters<typeof openChoicePanel>[1], "chosen" | "none">;
type TextNeeds = Omit<Parameters<typeof createInputPanel>[0], "done">;

/** Resolves to what the user chooses; null when they go back. */
export function askChoice(desk: Desk, needs: ChoiceNeeds): Promise<string | null> {
  return new Promise((resolve) => {
    openChoicePanel(desk, { ...needs, chosen: resolve, none: () => resolve(null) });
  });
}

/** Resolves to what the user writes; null when they go back. With `until`, what comes first counts. */
export function askText(desk: Desk, needs: TextNeeds, until?: Promise<string>): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const done = (text: string | null): void => {
      desk.show(null);
      resolve(text);
    };
    until?.then(done, reject);
    desk.show(createInputPanel({ ...needs, done }));
  });
}
