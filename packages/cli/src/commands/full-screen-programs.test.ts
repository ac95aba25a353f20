import { describe, expect, it } from "vitest";
import { needsTerminal } from "./full-screen-programs.ts";

describe("P8: programs that need the terminal itself", () => {
  it.each([
    "vim",
    "vim a.txt",
    "/usr/bin/vim a.txt",
    "EDITOR=vi sudo nano /etc/hosts",
    "less a.txt",
    "git commit",
    "git commit -a",
    "git rebase -i HEAD~3",
    "git add -p",
    "python3",
    "ssh host",
  ])("P8: %s gets it", (command) => expect(needsTerminal(command)).toBe(true));

  it.each([
    "ls",
    "cat a.txt | less",
    "vim --version",
    "git commit -m 'vim'",
    "git commit -am x",
    "git commit --amend --no-edit",
    "git rebase main",
    "git add a.txt",
    "python3 a.py",
    "echo vim",
    "grep -r vim .",
  ])("P8: %s does not", (command) => expect(needsTerminal(command)).toBe(false));
});
