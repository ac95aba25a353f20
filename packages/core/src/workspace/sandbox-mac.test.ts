import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { macProfile } from "./sandbox-mac.ts";

const limits = {
  mode: "workspace-write",
  roots: ['/Users/a/my "project"'],
  home: "/Users/a/.burin",
  temporary: "/private/tmp/t",
} as const;

describe("macProfile, which was not run on a Mac so far", () => {
  it("P53 lets write in the root and the private temporary folder, quoted, and nowhere else", () => {
    const lines = macProfile(limits, false).split("\n");
    expect(lines.slice(0, 3)).toEqual(["(version 1)", "(allow default)", "(deny file-write*)"]);
    expect(lines).toContain(
      '(allow file-write* (subpath "/Users/a/my \\"project\\"") (subpath "/private/tmp/t"))',
    );
  });

  it("P53 denies what runs code later after it has allowed the root, as later rules win", () => {
    const profile = macProfile(limits, false);
    const denied = profile.indexOf('(deny file-write* (subpath "/Users/a/my \\"project\\"/.burin")');
    expect(denied).toBeGreaterThan(profile.indexOf("(allow file-write* (subpath"));
    expect(profile).toContain(
      '(deny file-write* (regex #"/\\.git(/modules/[^/]+)?/(hooks|config|config\\.worktree)(/|$)"))',
    );
    expect(profile).toContain('(deny file-read* file-write* (subpath "/Users/a/.burin"))');
    expect(profile).toContain('(allow file-read* (subpath "/Users/a/.burin/output"))');
    expect(profile).not.toContain(".bashrc");
    expect(macProfile({ ...limits, roots: [homedir()] }, false)).toContain(".bashrc");
  });

  it("P53 has the network only when it was granted, and no root to write in read-only", () => {
    expect(macProfile(limits, false)).toContain("(deny network*)");
    expect(macProfile(limits, true)).not.toContain("network");
    const readOnly = macProfile({ ...limits, mode: "read-only" }, false);
    expect(readOnly).not.toContain("project");
    expect(readOnly).toContain('(allow file-write* (subpath "/private/tmp/t"))');
  });
});
