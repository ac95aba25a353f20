import { describe, expect, it } from "vitest";
import { readRepositoryFiles } from "./repository-files.ts";
import { checkRepositorySpeech } from "./repository-speech.ts";

function faultsOf(path: string, text: string): readonly string[] {
  return checkRepositorySpeech(new Map([[path, text]])).violations;
}

/** Words that this file must not contain are put together here. */
function path(...parts: string[]): string {
  return ["", ...parts].join("/");
}
const HOST = ["registry", "npmjs", "org"].join(".");

describe("speech of the repository", () => {
  it("says nothing of one machine", () => {
    const { looked, violations } = checkRepositorySpeech(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each([
    [path("work", "main"), path("work", "")],
    [`"${path("root", ".burin")}"`, path("root", "")],
    [`file://${path("work", "a")}`, path("work", "")],
    [path("farm"), path("farm")],
  ])("has no path of a machine: %s", (text, found) => {
    expect(faultsOf("docs/a.md", `\nsee ${text}`)).toEqual([
      `docs/a.md:2 "${found}" is a path of one machine`,
    ]);
  });

  it("may have the same words as parts of other paths", () => {
    const text = [
      `frame${path("work", "a")}`,
      `~${path("work", "a")}`,
      `a${path("farm")}`,
      path("farmer"),
    ].join(" ");
    expect(faultsOf("docs/a.md", text)).toEqual([]);
  });

  it("names no registry", () => {
    expect(faultsOf("a.ts", `fetch("https://${HOST}/x");`)).toEqual([
      `a.ts:1 "${HOST}" is a registry's host`,
    ]);
    expect(faultsOf(".npmrc", `save-exact=true\n${"registry"}=https://example.org/`)).toEqual([
      ".npmrc:2 the registry is the business of each machine",
    ]);
    expect(faultsOf("a.ts", "registry.getTool.name; registry.tools.list();")).toEqual([]);
  });

  it("ties the lockfile to no address", () => {
    const line = (resolved: string) => `{\n  ${JSON.stringify("resolved")}: ${JSON.stringify(resolved)}\n}`;
    expect(faultsOf("package-lock.json", line("packages/core"))).toEqual([]);
    expect(faultsOf("package-lock.json", line("https://example.org/a.tgz"))).toEqual([
      "package-lock.json:2 a resolved URL ties the lockfile to one registry: leave it out (omit-lockfile-registry-resolved)",
    ]);
  });

  it.each(["^1.2.3", "~1.2.3", "1.x", "*", ">=1.0.0", "latest", "1.2", "1.2.3 || 2.0.0", "github:a/b"])(
    "has exact versions only, not %s",
    (version) => {
      const text = JSON.stringify({ name: "a", devDependencies: { diff: version } }, null, 2);
      expect(faultsOf("package.json", text)).toEqual([
        `package.json:4 diff "${version}" in devDependencies is not an exact version`,
      ]);
    },
  );

  it("may have exact versions, releases to come too, and natives that may be absent", () => {
    const lists = {
      devDependencies: { a: "1.2.3" },
      optionalDependencies: { b: "1.2.0-beta.10" },
      dependencies: {},
    };
    expect(faultsOf("packages/cli/package.json", JSON.stringify(lists))).toEqual([]);
  });

  it.each(["dependencies", "peerDependencies"])("has packages without %s", (list) => {
    const text = JSON.stringify({ [list]: { diff: "1.2.3" } });
    const fault = "1 diff would be installed with the package: bundle it (devDependencies)";
    expect(faultsOf("packages/core/package.json", text)).toEqual([`packages/core/package.json:${fault}`]);
    expect(faultsOf("packages/cli/package.json", text)).toEqual([`packages/cli/package.json:${fault}`]);
    expect(faultsOf("examples/package.json", text)).toEqual([]);
  });
});
