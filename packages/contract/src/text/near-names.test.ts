import { describe, expect, it } from "vitest";
import { findNearNames } from "./near-names.ts";

describe("nearNames", () => {
  const tools = ["list_directory", "read_file", "read_many_files", "write_file", "glob"];

  it.each([
    ["readfile", "read_file"],
    ["ReadFile", "read_file"],
    ["read-file", "read_file"],
    ["list_dir", "list_directory"],
    ["write_fil", "write_file"],
    ["glb", "glob"],
    ["golb", "glob"],
  ])("R16 %s is closest to %s", (asked, wanted) => {
    expect(findNearNames(asked, tools)[0]).toBe(wanted);
  });

  it("gives nothing when nothing is close", () => {
    expect(findNearNames("deploy_to_moon", tools)).toEqual([]);
    expect(findNearNames("bash", ["task"])).toEqual([]);
    expect(findNearNames("todos", ["tools"])).toEqual([]);
    expect(findNearNames("~", ["日本", "a"])).toEqual([]);
  });

  it("P41 finds names that differ only by blanks or by how letters are composed", () => {
    expect(findNearNames("report2024年.txt", ["report 2024 年.txt"])).toEqual(["report 2024 年.txt"]);
    expect(findNearNames("caf\u00e9.md", ["cafe\u0301.md"])).toEqual(["cafe\u0301.md"]);
  });
});
