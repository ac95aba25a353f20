import { describe, expect, it } from "vitest";
import { readTasks } from "./task.ts";

const plain = { id: "a", prompt: "go", folder: "." };
const read = (...tasks: unknown[]) =>
  readTasks(
    tasks.map((task) => (typeof task === "string" ? task : JSON.stringify(task))).join("\n"),
    "/from",
  );

describe("a file of tasks", () => {
  it("is read line by line, paths count from its folder", () => {
    const tasks = read(plain, "", { id: "b", prompt: "go", git: "https://example.org/x.git", tries: 5 });
    expect(tasks).toEqual([
      {
        id: "a",
        prompt: "go",
        source: { folder: "/from" },
        approvalMode: "default",
        allow: [],
        deny: [],
        tries: 3,
      },
      {
        ...{ id: "b", prompt: "go", approvalMode: "default", allow: [], deny: [], tries: 5 },
        source: { git: "https://example.org/x.git", revision: "HEAD" },
      },
    ]);
  });

  it.each<[unknown, RegExp]>([
    ["{not json", /^Line 2: it is not valid JSON/],
    ["[]", /a task is a JSON object/],
    [{ ...plain, id: "../b" }, /"id" must be letters, digits/],
    [{ ...plain, id: ["b"] }, /"id" must be letters, digits/],
    [{ ...plain, id: "b", promt: "x" }, /"promt" is not part of a task; there are id,/],
    [{ id: "b", folder: "." }, /"prompt" is missing/],
    [{ ...plain, id: "b", prompt: " " }, /"prompt" must be a text that is not empty/],
    [{ ...plain, id: "b", git: "x" }, /exactly one of "folder", "git", "tarball"/],
    [{ ...plain, id: "b", revision: "x" }, /"revision" goes with "git"/],
    [
      { id: "b", prompt: "go", git: "https://a:secret@x.org/y.git" },
      /"git" has a password, which would be kept/,
    ],
    [{ id: "b", prompt: "go", git: `https://a:\${OPENAI_API_KEY}@x.org/y.git` }, /"git" has a password/],
    [{ id: "b", prompt: "go", git: "https://ghp_0123456789abcdefghij@x.org/y.git" }, /"git" has a password/],
    [{ ...plain, id: "b", budget: "much" }, /"budget" cannot be used: The budget "much" cannot be read/],
    [{ ...plain, id: "b", approvalMode: "fast" }, /"approvalMode" must be one of plan/],
    [{ ...plain, id: "b", allow: "x" }, /"allow" must be a list of rules/],
    [{ ...plain, id: "b", tries: 0 }, /"tries" must be a whole number above 0/],
    [plain, /there is already a task "a"/],
  ])("says what is wrong with %j, and in which line", (line, fault) => {
    expect(() => read(plain, line)).toThrow(fault);
  });

  it("may name tasks by numbers, which are texts in the database", () => {
    expect(read({ ...plain, id: 1 })[0]?.id).toBe("1");
    expect(() => read({ ...plain, id: 1 }, { ...plain, id: "1" })).toThrow('already a task "1"');
  });

  it("is not one without a task", () => {
    expect(() => read("", " ")).toThrow("There is no task in the file.");
  });
});
