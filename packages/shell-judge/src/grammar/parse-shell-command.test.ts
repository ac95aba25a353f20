import { quoteShellWord, splitShellWords } from "@burin/contract/text/shell-words";
import { describe, expect, it } from "vitest";
import { parseShellCommand } from "./parse-shell-command.ts";

function words(line: string) {
  return parseShellCommand(line).commands.map((command) => command.words.map(({ value }) => value));
}

function problems(line: string): string {
  const { commands, problems: own } = parseShellCommand(line);
  return [...own, ...commands.flatMap((command) => command.problems)].join("; ");
}

describe("parseShellCommand", () => {
  it.each([
    ["ls -la", [["ls", "-la"]]],
    ["a b; c && d || e | f |& g\nh", [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]]],
    [`e''cho 'a b'"c d"\\ e`, [["echo", "a bc d e"]]],
    ["r\\\nm x", [["rm", "x"]]],
    ['echo "\\$x" \\$y "a\\"b"', [["echo", "$x", "$y", 'a"b']]],
    ["echo a#b # c", [["echo", "a#b"]]],
    ["(cd x && ls); { pwd; }", [["cd", "x"], ["ls"], ["pwd"]]],
    ["! time ls", [["ls"]]],
    ["git show HEAD~1 stash@{0} a^{tree}", [["git", "show", "HEAD~1", "stash@{0}", "a^{tree}"]]],
    ["grep foo$ x", [["grep", "foo$", "x"]]],
    ["if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    [
      'for x in a b; do c "$x" $x/y; done',
      [
        ["c", "a", "a/y"],
        ["c", "b", "b/y"],
      ],
    ],
    [
      "for i in {1..2}; do a $i; done",
      [
        ["a", "1"],
        ["a", "2"],
      ],
    ],
    [
      'for f in src/*; do c "$f.x"; done',
      [
        [":", "src/*"],
        ["c", "src/*.x"],
      ],
    ],
    ["[[ a == b* ]]", [["test", "a", "==", "b*"]]],
    ["case a in b) c ;; d*) e ;; esac", [["c"], ["e"]]],
    [
      "[[ -f a && b == c ]]",
      [
        ["test", "-f", "a"],
        ["test", "b", "==", "c"],
      ],
    ],
    ["diff <(a b) <(c)", [["diff", "/dev/fd/pipe", "/dev/fd/pipe"], ["a", "b"], ["c"]]],
    ["", []],
    ["# nothing", []],
  ])("P21 reads plain words: %j", (line, wanted) => {
    expect(words(line)).toEqual(wanted);
    expect(problems(line)).toBe("");
  });

  it.each([
    ["echo $x", "an expansion"],
    ["echo `a`", "a command substitution"],
    ["echo $(a)", "a command substitution"],
    ["cat >(a)", "a process substitution"],
    ["cat x<(a)", "a process substitution"],
    ["echo $((x))", "an arithmetic expansion"],
    ["for f in *; do echo $f; done", "an expansion"],
    ['for f in a; do for f in b; do c; done; echo "$f"; done', "an expansion"],
    ['for f in a; do g; done; echo "$f"', "an expansion"],
    ['for f in a; do f=b; echo "$f"; done', "an expansion"],
    ['for f in a; do read f; echo "$f"; done', "an expansion"],
    ['for f in a; do printf -v f b; echo "$f"; done', "an expansion"],
    ['for f in a; do (( f = 1 )); echo "$f"; done', "an expansion"],
    [`for f in a; do echo \${f:=x}; done`, "an expansion"],
    ["for PATH in a; do b; done", "a loop sets"],
    ["for d in *; do cd x; done", "changes the folder"],
    ["while a; do b; done", "control flow"],
    ["for ((;;)); do a; done", "control flow"],
    ["echo $'a'", "an ANSI-C quote"],
    ['echo $"a"', "a translated string"],
    ["echo {a,b}{c,d}", "a brace expansion"],
    ["echo {1..9}", "a brace expansion"],
    ["echo ~/x a=~", "a tilde expansion"],
    ["echo @(a|b)", "an extended pattern"],
    ["f() { a; }", "defines a function"],
    ["a &", "in the background"],
    ["coproc a", "in the background"],
    ["[[ -v a ]]", "evaluate"],
    ["[[ a -eq 1 ]]", "evaluate"],
    ["((a))", "evaluates"],
    ["export A=b", "assigns"],
    ["echo 'a", "cannot be read"],
    ["a )", "cannot be read"],
    ["ls \r", "invisible character U+000D"],
    ["ls \u00a0x", "invisible character U+00A0"],
    ["ls \u202ex", "invisible character U+202E"],
    [`echo ${"x".repeat(100_001)}`, "too long"],
    [`echo ${"$(".repeat(3000)}`, "cannot be read"],
    [`${"(".repeat(3000)}ls${")".repeat(3000)}`, "cannot be read"],
  ])("P21 says what is not plain: %.60j", (line, wanted) => {
    expect(problems(line)).toContain(wanted);
  });

  it.each([
    "echo $(rm x)",
    "echo `rm x`",
    "echo `echo \\`rm x\\``",
    'echo "a $(rm x)"',
    "cat <<E\n$(rm x)\nE",
    "cat <<-E\n\t`rm x`\n\tE",
    "cat <<< $(rm x)",
    "cat < <(rm x)",
    "echo $[ $(rm x) ]",
    'echo "$(( $(rm x) ))"',
    "a=$(rm x) ls",
    "a[$(rm x)]=1 ls",
    "a=(1 $(rm x))",
    "ls > $(rm x)",
    "case $(rm x) in a) b;; esac",
    "while rm x; do :; done",
    "f() { rm x; }",
    "coproc rm x",
    "[[ -n $(rm x) ]]",
    "export a=$(rm x)",
    `echo $${"{x:-`rm x`}"}`,
    `echo "$${"{x/a/$(rm x)}"}"`,
  ])("P21 finds the command in %j", (line) => {
    expect(words(line)).toContainEqual(["rm", "x"]);
  });

  it.each(["[", "{", "{,", "{a..", "{a,b"])("P21 P18 a word of many %j is read once", (piece) => {
    const line = `echo ${piece.repeat(90_000 / piece.length)}`;
    for (let time = 0; time < 15; time += 1) {
      const [command] = parseShellCommand(line).commands;
      expect(command?.words.map(({ value }) => value)).toEqual(["echo", line.slice(5)]);
    }
  });

  it("P21 tells redirections apart", () => {
    const [command] = parseShellCommand("a >f 2>>g <h 2>&1 >&- &>i >&j <>k >|l {n}>m <<<t").commands;
    expect(command?.redirections.map(({ kind, target }) => [kind, target])).toEqual([
      ["write", "f"],
      ["write", "g"],
      ["read", "h"],
      ["copy", "1"],
      ["copy", "-"],
      ["write", "i"],
      ["write", "j"],
      ["write", "k"],
      ["write", "l"],
      ["write", null],
      ["data", "t"],
    ]);
  });

  it("P21 a here-document is data only when the shell leaves it as it is", () => {
    const body = (line: string) => parseShellCommand(line).commands[0]?.redirections[0]?.target;
    expect(body("cat <<'E'\n$x `y`\nE")).toBe("$x `y`\n");
    expect(body("cat <<E\nplain\nE")).toBe("plain\n");
    expect(body("cat <<E\n$x\nE")).toBeNull();
  });
});

describe("shell words", () => {
  it.each(["a", "a b", "it's", "", "$x", "a\nb", '"', "\\", "é", "-n", "~", "a;b"])(
    "P22 %j is quoted so that it is read back as it was",
    (word) => {
      expect(splitShellWords(`x ${quoteShellWord(word)} y`)).toEqual(["x", word, "y"]);
      expect(words(`x ${quoteShellWord(word)}`)).toEqual([["x", word]]);
    },
  );

  it.each(["a; b", "a && b", "a | b", "a $x", "a `b`", "a > b", "a 'b", 'a "$x"', "a (b)", "a \\\nb"])(
    "P21 %j is more than words",
    (text) => expect(splitShellWords(text)).toBeNull(),
  );
});
