import { describe, expect, it } from "vitest";
import { findProgramSetting, isProgramSetting, PROGRAM_SETTINGS } from "./git-programs.ts";

const find = (key: string, changes: boolean) =>
  findProgramSetting([{ key, value: "./x", origin: "file:.git/config", scope: "local" }], {
    changes,
    subcommand: "log",
  });

describe("settings of git that name programs", () => {
  it.each(PROGRAM_SETTINGS)("P21 %s is known by its name, as in %s", (_name, example) => {
    expect(isProgramSetting(example)).toBe(true);
    expect(isProgramSetting(`${example}.x`)).toBe(false);
    expect(find(example, true)).not.toBeNull();
  });

  it.each(["core.filemode", "remote.origin.url", "vcs", "x.myvcs", "x.pager2"])(
    "P21 %s names none",
    (key) => {
      expect(isProgramSetting(key)).toBe(false);
    },
  );

  it.each(["core.editor", "credential.helper", "mergetool.meld.cmd"])(
    "P22 %s counts only for a change",
    (key) => {
      expect(find(key, false)).toBeNull();
      expect(find(key, true)).not.toBeNull();
    },
  );
});
