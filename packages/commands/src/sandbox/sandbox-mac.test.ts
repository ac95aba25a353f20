import { existsSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { buildProtectedPatterns, explainProtectedFile } from "@burin/shell-judge";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { buildMacProfile, createMacSandbox } from "./sandbox-mac.ts";

const limits = {
  mode: "workspace-write",
  roots: ['/Users/a/my "project"'],
  home: "/Users/a/.burin",
  temporary: "/private/tmp/t",
  environment: {},
} as const;

describe("macProfile, which was not run on a Mac so far", () => {
  it("P53 lets write in the root and the private temporary folder, quoted, and nowhere else", () => {
    const lines = buildMacProfile(limits, false, null).split("\n");
    expect(lines.slice(0, 3)).toEqual(["(version 1)", "(allow default)", "(deny file-write*)"]);
    expect(lines).toContain(
      '(allow file-write* (subpath "/Users/a/my \\"project\\"") (subpath "/private/tmp/t"))',
    );
  });

  it("P53 has a temporary folder of its own beside the pipes of others, by its real path", async () => {
    const folder = realpathSync(createTemporaryFolder());
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    const sandbox = createMacSandbox({ ...limits, mode: "read-only", temporary: link });
    const plan = await sandbox.plan({ argv: ["true"], cwd: "/", network: false });
    expect(plan.env.TMPDIR).toBe(join(folder, "tmp"));
    expect(plan.args[1]).toContain(`(allow file-write* (subpath "${join(folder, "tmp")}"))`);
    expect(existsSync(join(folder, "tmp"))).toBe(true);
  });

  it("P53 denies what runs code later after it has allowed the root, as later rules win", () => {
    const named = {
      path: "/Users/a/x/.git/config",
      key: "1/config",
      id: "3",
      kind: "file",
      part: "git file",
    } as const;
    const folder = {
      path: "/Users/a/x/.git",
      key: "2/.",
      id: "2",
      kind: "folder",
      part: "git folder",
    } as const;
    const places = new Map([named, folder].map((place) => [place.key, place]));
    const survey = { places, named: new Set<string>(), isWhole: true };
    const profile = buildMacProfile({ ...limits, roots: ["/Users/a/x"] }, false, survey);
    const lines = profile.split("\n");
    const names = lines.find((line) => line.startsWith('(deny file-write* (regex #"^(/Users/a/x)(/.*)?/(('));
    expect(profile.indexOf(names ?? "?")).toBeGreaterThan(profile.indexOf("(allow file-write* (subpath"));
    for (const name of [
      "\\.[nN][pP][mM][rR][cC]",
      "\\.[vV][sS][cC][oO][dD][eE]",
      "\\.[eE][nN][vV](\\.[^/]+)?$",
    ]) {
      expect(names).toContain(name);
    }
    expect(lines).toContain('(deny file-write-unlink (literal "/Users/a/x/.git"))');
    expect(lines).toContain('(deny file-write* (subpath "/Users/a/x/.git/config"))');
    expect(profile).toContain('(deny file-read* file-write* (subpath "/Users/a/.burin"))');
    expect(profile).toContain('(allow file-read* (subpath "/Users/a/.burin/output"))');
  });

  it("P53 the expression for its names means what the table means", () => {
    const { denied, allowed } = buildProtectedPatterns();
    const isDenied = (path: string) => new RegExp(denied).test(path) && !new RegExp(allowed).test(path);
    for (const path of [
      "/.env",
      "/a/.ENV.local",
      "/.npmrc",
      "/a/.vscode/tasks.json",
      "/b/.config/git/x",
      "/x.code-workspace",
    ])
      expect([path, isDenied(path), explainProtectedFile(path) !== null]).toEqual([path, true, true]);
    for (const path of ["/.env.example", "/a/env", "/.npmrcx", "/vscode/tasks.json", "/.config/x", "/.envoy"])
      expect([path, isDenied(path), explainProtectedFile(path) !== null]).toEqual([path, false, false]);
  });

  it("P53 has the network only when it was granted, and no root to write in read-only", () => {
    expect(buildMacProfile(limits, false, null)).toContain("(deny network*)");
    expect(buildMacProfile(limits, true, null)).not.toContain("network");
    const readOnly = buildMacProfile({ ...limits, mode: "read-only" }, false, null);
    expect(readOnly).not.toContain("project");
    expect(readOnly).toContain('(allow file-write* (subpath "/private/tmp/t"))');
  });
});
