import { expect, it } from "vitest";
import { filterChoices, openChoicePanel } from "./choice-panel.ts";
import type { Panel } from "./panel.ts";

it("a list in which nothing matches stays open when enter is pressed, and has its choices again without the words", () => {
  const shown: (Panel | null)[] = [];
  const chosen: string[] = [];
  const choices = [{ value: "first", label: "First", more: "" }];
  openChoicePanel(
    { show: (panel) => shown.push(panel) },
    { title: "Which?", choices, chosen: (one) => chosen.push(one) },
  );
  const [panel] = shown;
  panel?.key({ name: "text", text: "zzz" });
  panel?.key({ name: "enter", text: "" });
  expect([shown.length, chosen]).toEqual([1, []]);
  panel?.key({ name: "ctrl+u", text: "" });
  panel?.key({ name: "enter", text: "" });
  expect([shown.at(-1), chosen]).toEqual([null, ["first"]]);
});

it("P30 a list shows what is called so before what is only described so", () => {
  const choices = [
    { value: "redo", label: "/redo", more: "put back what the last undo took back" },
    { value: "undo", label: "/undo", more: "take back the last changes" },
  ];
  expect(filterChoices(choices, "undo").map(({ value }) => value)).toEqual(["undo", "redo"]);
});
