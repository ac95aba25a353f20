import { applyReplacements } from "@burin/edit-match";
import { describe, expect, it } from "vitest";
import { findNotebookEdit } from "./notebook-edit.ts";

const notebook = (cells: string) =>
  `{\n "cells": [\n${cells}\n ],\n "metadata": {"x": [1, {"a": "]}\\""}]},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n`;

const cell = (source: string) => `  {"cell_type": "code", "outputs": [], "source": ${source}}`;

function edited(content: string, [oldText, newText]: readonly [string, string], expected = 1) {
  const match = findNotebookEdit({ content, oldText, newText, expected });
  return match?.status === "matched" ? applyReplacements(content, match.replacements) : match;
}

describe("findNotebookEdit", () => {
  const lines = cell('[\n    "import os\\n",\n    "print(\\"caf\\u00e9\\")\\n",\n    "x = 1"\n   ]');

  it("edits a cell as it was shown, keeps the layout and every other byte", () => {
    const before = notebook(lines);
    expect(edited(before, ['print("café")\nx = 1', 'print("café")\nx = 2\ny = "ü"'])).toBe(
      before.replace('"x = 1"', '"x = 2\\n",\n    "y = \\"\\u00fc\\""'),
    );
  });

  it("keeps a source that is one string, and one in a single line", () => {
    expect(edited(notebook(cell('"a = 1\\nb = 2"')), ["b = 2", "b = 3"])).toBe(
      notebook(cell('"a = 1\\nb = 3"')),
    );
    expect(edited(notebook(cell('["a = 1\\n", "b = 2"]')), ["a = 1\n", ""])).toBe(
      notebook(cell('["b = 2"]')),
    );
  });

  it("R94 counts over all cells, and never matches across two of them", () => {
    const two = notebook(`${cell('["x = 1\\n", "done"]')},\n${cell('["x = 1"]')}`);
    expect(edited(two, ["x = 1", "x = 2"])).toMatchObject({ status: "ambiguous", found: 2 });
    expect(edited(two, ["x = 1", "x = 2"], 2)).toBe(two.replaceAll("x = 1", "x = 2"));
    expect(edited(two, ["done\nx = 1", "gone"])).toBeNull();
  });

  it("leaves text that is no notebook, and places that are in no cell, to the plain edit", () => {
    expect(edited('{"cells": 1}', ["cells", "rows"])).toBeNull();
    expect(edited("not JSON", ["not", "no"])).toBeNull();
    expect(edited(notebook(lines), ['"nbformat_minor": 5', '"nbformat_minor": 4'])).toBeNull();
  });

  it("empties a cell", () => {
    expect(edited(notebook(cell('["gone"]')), ["gone", ""])).toBe(notebook(cell("[]")));
  });
});
