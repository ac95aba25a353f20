import { describe, expect, it } from "vitest";
import { HARMLESS_SETTINGS, isHarmlessName } from "./harmless-settings.ts";

/** With these git runs a program, or reads a file that can name one. */
const RUNNING = [
  "core.pager",
  "core.hookspath",
  "core.sshcommand",
  "core.fsmonitor",
  "core.attributesfile",
  "core.x.filemode",
  "alias.st",
  "include.path",
  "includeif.gitdir:x.path",
  "filter.lfs.clean",
  "remote.origin.uploadpack",
  "remote.origin.vcs",
  "remote.url",
  "remote.origin.pushdefault",
  "branch.merge",
  "submodule.x.update",
  "user.signingkey",
  "merge.x.driver",
  "commit.template",
  "receive.deny",
  "receive.deny-x",
  "fetch.x.prune",
  "gc.recentobjectshook",
  "index",
  "indexe",
  "core",
  "",
  "core.pager\n.filemode",
  "branch.a\nb.merge",
];

describe("settings of git with which it runs nothing", () => {
  it.each(HARMLESS_SETTINGS)("P21 $section: $example", ({ section, example }) => {
    expect(example.startsWith(`${section}.`)).toBe(true);
    expect(isHarmlessName(example)).toBe(true);
  });

  it.each(RUNNING)("P21 is not %j", (key) => {
    expect(isHarmlessName(key)).toBe(false);
  });
});
