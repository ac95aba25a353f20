import { describe, expect, it } from "vitest";
import { TextBuffer } from "./text-buffer.ts";
import { VimKeys } from "./vim-keys.ts";

const ESCAPE = { name: "escape", text: "" };

/** Returns the text after these keys, with a bar at the caret. */
function pressed(text: string, keys: string): { shown: string; passed: string[]; isNormal: boolean } {
  const buffer = new TextBuffer();
  const vim = new VimKeys();
  buffer.set(text.replace("|", ""));
  buffer.moveTo(text.indexOf("|") + 1);
  vim.press(buffer, ESCAPE);
  const passed: string[] = [];
  for (const character of keys) {
    const key = vim.press(buffer, character === "\u001b" ? ESCAPE : { name: "text", text: character });
    if (key?.name === "text") buffer.insert(key.text);
    else if (key !== null) passed.push(key.name);
  }
  const { text: after, caret } = buffer;
  return { shown: `${after.slice(0, caret)}|${after.slice(caret)}`, passed, isNormal: vim.isNormal };
}

describe("the keys of vi", () => {
  it.each([
    ["one |two", "x", "one |wo"],
    ["one tw|o three", "daw", "one |three"],
    ["one, tw|o", "yiwP", "one, two|two"],
    ["one | two", "diw", "one | two"],
    ["|one two three", "w", "one |two three"],
    ["|one two three", "2w", "one two |three"],
    ["|one two three", "e", "on|e two three"],
    ["one two |three", "b", "one |two three"],
    ["one two |three", "0", "|one two three"],
    ["  one |two", "^", "  |one two"],
    ["one\ntw|o", "gg", "|one\ntwo"],
    ["|one\ntwo", "G", "one\ntwo|"],
    ["|one two three", "dw", "|two three"],
    ["|one two three", "d2w", "|three"],
    ["|one two three", "2dw", "|three"],
    ["|one, two", "dw", "|, two"],
    ["one |two three", "D", "one |"],
    ["one |two three", "db", "|two three"],
    ["one\nt|wo\nthree", "dd", "one\n|three"],
    ["|one\ntwo\nthree", "2dd", "|three"],
    ["|one\ntwo", "ddp", "two\none|"],
    ["|one two", "ywP", "one |one two"],
    ["|one two", "rO", "|One two"],
    ["|one two", "dwu", "|one two"],
    ["日|本 語", "x", "日| 語"],
    ["|ab", "2d\u001bx", "|b"],
  ])("in %j give, behind %j, %j", (text, keys, wanted) => {
    const { shown, isNormal } = pressed(text, keys);
    expect(shown).toBe(wanted);
    expect(isNormal).toBe(true);
  });

  it.each([
    ["|one two", "cwsix", "six| two"],
    ["one tw|o three", "ciwx", "one x| three"],
    ["|one two", "Cx", "x|"],
    ["o|ne\ntwo", "ccx", "x|\ntwo"],
    ["|one", "Ax", "onex|"],
    ["|one", "ax", "ox|ne"],
    ["on|e", "Ix", "x|one"],
    ["|one\ntwo", "ox", "one\nx|\ntwo"],
    ["|one", "Ox", "x|\none"],
  ])("lead from %j with %j back to writing: %j", (text, keys, wanted) => {
    const { shown, isNormal } = pressed(text, keys);
    expect(shown).toBe(wanted);
    expect(isNormal).toBe(false);
  });

  it.each([
    ["a😀|b", "hx", "a|b"],
    ["😀😀|", "hx", "|😀"],
    ["|a😀b", "llx", "a😀|"],
    ["|a😀b", "lrx", "a|xb"],
    ["|a👨‍👩‍👧b", "2lx", "a👨‍👩‍👧|"],
    ["|नमस्ते हाँ", "w", "नमस्ते |हाँ"],
    ["|नमस्ते हाँ", "de", "| हाँ"],
    ["\n|abc", "ggdd", "|abc"],
    ["\n|abc", "ggh", "|\nabc"],
  ])("P42 take characters and lines whole: in %j give, behind %j, %j", (text, keys, wanted) => {
    expect(pressed(text, keys).shown).toBe(wanted);
  });

  it("leave to the screen what it does itself", () => {
    expect(pressed("|one", "jk/").passed).toEqual(["down", "up", "ctrl+r"]);
    const vim = new VimKeys();
    // In an empty prompt, escape has nothing to leave, so it interrupts.
    expect(vim.press(new TextBuffer(), ESCAPE)).toBe(ESCAPE);
  });
});
