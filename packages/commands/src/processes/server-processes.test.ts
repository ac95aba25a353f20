import { describe, expect, it } from "vitest";
import { buildServerProgram } from "./server-processes.ts";

const none = { sandbox: null, comSpec: "C:\\cmd.exe" };

describe("X2 the program of a server", () => {
  it("is what the settings name, except on Windows", () => {
    const line = { command: "/bin/sh", args: ["-c", "cd server && exec ./serve"] };
    expect(buildServerProgram({ ...none, ...line }, false)).toEqual({
      program: "/bin/sh",
      args: ["-c", "cd server && exec ./serve"],
      isVerbatim: false,
    });
  });

  it("is started by the shell of Windows there, and so is a whole command line", () => {
    const start = { program: "C:\\cmd.exe", isVerbatim: true };
    expect(buildServerProgram({ ...none, command: "npx", args: ["-y", 'a "b"'] }, true)).toEqual({
      ...start,
      args: ["/d", "/s", "/c", `""npx" "-y" "a ""b""""`],
    });
    const line = { command: "/bin/sh", args: ["-c", "cd server && serve"] };
    expect(buildServerProgram({ ...none, ...line }, true)).toEqual({
      ...start,
      args: ["/d", "/s", "/c", '"cd server && serve"'],
    });
  });
});
