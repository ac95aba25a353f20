import { describe, expect, it } from "vitest";
import { KeyBindings, readKeyBindings } from "./key-bindings.ts";

describe("P30: own key bindings", () => {
  it("P30: take a key away, give it a command, and leave the others as they are", () => {
    const text = '{"Ctrl+K": "palette", "alt+r": "/resume", "ctrl+s": null}';
    const { bindings, faults } = readKeyBindings(text, ["resume"]);
    expect(faults).toEqual([]);
    expect(bindings.findUse("ctrl+k")).toBe("palette");
    expect(bindings.findUse("alt+r")).toBe("/resume");
    expect(bindings.findUse("ctrl+s")).toBeNull();
    expect(bindings.findUse("ctrl+o")).toBe("results");
    expect(bindings.listKeys("palette")).toEqual(["ctrl+k", "ctrl+p"]);
    expect(bindings.listKeys("beside")).toEqual([]);
  });

  it("P30: name each entry that cannot be used, and keep the rest", () => {
    const text =
      '{"enter": "palette", "ctrl+c": null, "a": "palette", "hyper+x": "palette", "ctrl+k": "fly", "ctrl+y": "/none", "shift+ctrl+p": "mode"}';
    const { bindings, faults } = readKeyBindings(text, ["resume"]);
    expect(faults).toHaveLength(6);
    for (const name of ["enter", "ctrl+c", "a", "hyper+x", "fly", "/none"])
      expect(faults.join("\n")).toContain(name);
    expect(bindings.findUse("ctrl+shift+p")).toBe("mode");
  });

  it.each(["", "[]", "null", '"x"', "{"])("P30: %j changes no key and is a fault", (text) => {
    const { bindings, faults } = readKeyBindings(text, []);
    expect(faults).toHaveLength(1);
    expect(bindings.findUse("ctrl+p")).toBe(new KeyBindings().findUse("ctrl+p"));
  });
});
