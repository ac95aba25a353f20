import { describe, expect, it } from "vitest";
import { findRawFileUrl } from "./code-host.ts";

describe("R42 the page of a file at a code host", () => {
  it.each([
    ["https://github.com/o/r/blob/main/src/a.ts#L3", "https://raw.githubusercontent.com/o/r/main/src/a.ts"],
    ["https://github.com/o/r/raw/v1.0/a%20b.md", "https://raw.githubusercontent.com/o/r/v1.0/a%20b.md"],
    ["https://gitlab.com/g/s/r/-/blob/main/a.ts", "https://gitlab.com/g/s/r/-/raw/main/a.ts"],
    ["https://git.corp.test/g/r/-/blob/main/d/a.ts", "https://git.corp.test/g/r/-/raw/main/d/a.ts"],
    ["https://bitbucket.org/o/r/src/main/d/a.py", "https://bitbucket.org/o/r/raw/main/d/a.py"],
    ["https://codeberg.org/o/r/src/branch/main/a.go", "https://codeberg.org/o/r/raw/branch/main/a.go"],
    [
      "https://gist.github.com/me/0123456789abcdef0123456789abcdef",
      "https://gist.githubusercontent.com/me/0123456789abcdef0123456789abcdef/raw",
    ],
  ])("%s is the file %s", (page, file) => {
    expect(findRawFileUrl(new URL(page))?.href).toBe(file);
  });

  it.each([
    "https://github.com/o/r",
    "https://github.com/o/r/issues/3",
    "https://github.com/o/r/tree/main/src",
    "https://github.com/o/r/blob/main",
    "https://github.com.evil.test/o/r/blob/main/a.ts",
    "https://gist.github.com/me",
    "https://bitbucket.org/o/r/src/main/",
    "https://gitlab.com/g/r/-/blob/",
    "https://example.org/a/b/blob/c/d",
  ])("%s is a page of its own", (page) => {
    expect(findRawFileUrl(new URL(page))).toBeNull();
  });
});
