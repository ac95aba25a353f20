import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judgeCall } from "./judge-call.ts";

const diff = {
  kind: "file_diff",
  fileName: "a",
  fileDiff: "",
  originalContent: null,
  newContent: "",
  addedLines: 0,
} as const;

function judged(subject: string, granted: readonly string[] = [], path = `/project/${subject}`) {
  const asked = {
    kind: "edit",
    title: "",
    path,
    diff: { ...diff, removedLines: 0 },
    grants: ["edit"],
  } as const;
  const request = { tool: "edit", kind: "edit", confirmation: asked, subjects: [subject] } as const;
  return judgeCall(request, "default", { allow: [], ask: [], deny: [], granted: granted.map(parseRule) });
}

describe("always for an edit", () => {
  it("P22 is for the folder, unless the file alone or every file is chosen", () => {
    const { grants, widths } = judged("src/a.ts");
    expect(grants).toEqual(["edit(src/**)", "write_file(src/**)"]);
    expect(widths).toEqual({
      exact: ["edit(src/a.ts)", "write_file(src/a.ts)"],
      wide: ["edit(src/**)", "write_file(src/**)"],
      all: ["edit"],
    });
    expect(judged("src/deep/b.ts", grants).verdict).toBe("allow");
    expect(judged("src/b.ts", widths?.exact).verdict).toBe("ask");
    expect(judged("other/b.ts", widths?.all).verdict).toBe("allow");
  });

  it.each(["other/b.ts", "srcs/b.ts", "package.json", "src/.envrc", ".github/workflows/a.yml"])(
    "P21 P22 for one in a folder does not cover %s",
    (path) => {
      expect(judged(path, judged("src/a.ts").grants).verdict).toBe("ask");
    },
  );

  it("P21 P22 in the root is for that file, and in a folder not for what a link in it leads to", () => {
    expect(judged("a.txt").grants).toEqual(["edit(a.txt)", "write_file(a.txt)"]);
    expect(judged("src/link.ts", ["edit(src/**)"], "/project/other/a.ts").verdict).toBe("ask");
  });

  it.each(["../a.ts", "/srv/a.ts", "src/[a].ts", "src/*.ts"])("P21 names no folder for %s", (path) => {
    expect(judged(path)).toMatchObject({ grants: ["edit"] });
    expect(judged(path).widths).toBeUndefined();
  });
});
