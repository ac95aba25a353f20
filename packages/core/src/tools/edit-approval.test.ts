import { execFileSync } from "node:child_process";
import { utimes, writeFile } from "node:fs/promises";
import type { Confirmation, Decision } from "@burin/contract/tools";
import { describe, expect, it } from "vitest";
import { content, edit, file, makeFolders, root, toolbox } from "../../tests/edit-room.ts";
import { applyHunks } from "../text/diff-hunks.ts";

makeFolders();

describe("edit: approval", () => {
  function asking(decide: (confirmation: Confirmation) => Decision | Promise<Decision>) {
    const seen: Confirmation[] = [];
    const box = toolbox({
      approvalMode: "default",
      confirm: async (confirmation) => {
        seen.push(confirmation);
        return decide(confirmation);
      },
    });
    return { box, seen };
  }

  it("R50 R99 X16 asks with a diff first; nothing is written before the answer", async () => {
    await writeFile(file, "alpha\n");
    const { box, seen } = asking(async () => {
      expect(await content()).toBe("alpha\n");
      return { outcome: "once" };
    });
    await edit({ old: "alpha", new: "beta" }, box);
    expect(seen).toMatchObject([
      { kind: "edit", path: file, diff: { fileDiff: expect.stringContaining("-alpha\n+beta") } },
    ]);
    expect(await content()).toBe("beta\n");
  });

  it("R32 a refusal with words reaches the model", async () => {
    await writeFile(file, "alpha\n");
    const { box } = asking(() => ({ outcome: "cancel", reason: "use gamma" }));
    expect((await edit({ old: "alpha", new: "beta" }, box)).llmContent).toContain("use gamma");
    expect(await content()).toBe("alpha\n");
  });

  it("writes the person's version of the proposal, and tells the model exactly what differs", async () => {
    await writeFile(file, "alpha\nomega\n");
    const { box } = asking((question) => {
      const proposed = question.kind === "edit" ? question.diff.newContent : "";
      return { outcome: "edited", content: proposed.replace("beta", "gamma") };
    });
    const { llmContent } = await edit({ old: "alpha", new: "beta" }, box);
    expect(await content()).toBe("gamma\nomega\n");
    expect(llmContent).toContain("-beta\n+gamma");
  });

  it("takes some hunks and not others, and tells the model which", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    await writeFile(file, `${lines.join("\n")}\n`);
    const { box } = asking((question) =>
      question.kind === "edit"
        ? { outcome: "edited", content: applyHunks(question.diff, new Set([1])) }
        : { outcome: "cancel" },
    );
    const old = lines.slice(1, 28).join("\n");
    const { llmContent } = await edit(
      { old, new: old.replace("line 2\n", "two\n").replace("line 25", "25") },
      box,
    );
    expect(await content()).toBe(`${lines.join("\n").replace("line 25", "25")}\n`);
    expect(llmContent).toContain("-two\n+line 2");
  });

  it("does not ask about what cannot be done, and does not write it when it could be done a moment later", async () => {
    await writeFile(file, "alpha\n");
    const { box, seen } = asking(() => ({ outcome: "once" }));
    expect((await edit({ old: "nowhere at all", new: "b" }, box)).error?.type).toBe("no_occurrence");
    expect(seen).toEqual([]);
  });

  it("P25 a change by somebody else while the question is open: merged when it does not touch, refused when it does", async () => {
    await writeFile(file, "alpha\nmiddle\nomega\n");
    const apart = asking(async () => {
      await writeFile(file, "alpha\nmiddle\nOMEGA\n");
      return { outcome: "once" };
    });
    expect((await edit({ old: "alpha", new: "ALPHA" }, apart.box)).error).toBeUndefined();
    expect(await content()).toBe("ALPHA\nmiddle\nOMEGA\n");
    const touching = asking(async () => {
      await writeFile(file, "changed\nmiddle\nOMEGA\n");
      return { outcome: "once" };
    });
    expect((await edit({ old: "ALPHA", new: "beta" }, touching.box)).error?.type).toBe("changed_on_disk");
    expect(await content()).toBe("changed\nmiddle\nOMEGA\n");
    // The diff that was shown would not be what is written.
    const sameLine = asking(async () => {
      await writeFile(file, "changed\nmiddle too\nOMEGA\n");
      return { outcome: "once" };
    });
    expect((await edit({ old: "middle", new: "centre" }, sameLine.box)).error?.type).toBe("changed_on_disk");
    expect(await content()).toBe("changed\nmiddle too\nOMEGA\n");
  });
});

describe("edit: a file that others write to", () => {
  it("P25 another content of the same length with the old times is seen, and another time alone is not", async () => {
    await writeFile(file, "alpha\nomega\n");
    const old = new Date(Date.now() - 60_000);
    await utimes(file, old, old);
    const meanwhile = (work: () => Promise<void>) =>
      toolbox({ approvalMode: "default", confirm: () => work().then(() => ({ outcome: "once" })) });
    const touched = meanwhile(() => utimes(file, new Date(), new Date()));
    expect((await edit({ old: "alpha", new: "ALPHA" }, touched)).error).toBeUndefined();
    await utimes(file, old, old);
    const rewritten = meanwhile(async () => {
      await writeFile(file, "alphA\nomega\n");
      await utimes(file, old, old);
    });
    expect((await edit({ old: "ALPHA", new: "beta" }, rewritten)).error?.type).toBe("changed_on_disk");
    expect(await content()).toBe("alphA\nomega\n");
  });
});

describe("edit: many at once", () => {
  it("P25 fifty parallel edits of one file all land", async () => {
    const lines = Array.from({ length: 50 }, (_, index) => `item ${index} old;`);
    await writeFile(file, `${lines.join("\n")}\n`);
    const box = toolbox();
    const results = await Promise.all(
      lines.map((line) => edit({ old: line, new: line.replace("old", "new") }, box)),
    );
    expect(results.filter((result) => result.error !== undefined)).toEqual([]);
    expect(await content()).toBe(`${lines.map((line) => line.replace("old", "new")).join("\n")}\n`);
  });

  it("P31 git counts only the changed line", async () => {
    await writeFile(file, "a\r\n\tb  \r\nc\n d\n");
    execFileSync("git", ["init", "-q"], { cwd: root });
    execFileSync("git", ["add", "."], { cwd: root });
    await edit({ old: "c", new: "C" });
    expect(execFileSync("git", ["diff", "--numstat"], { cwd: root, encoding: "utf8" })).toMatch(
      /^1\t1\ta.txt/,
    );
  });
});
