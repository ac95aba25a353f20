import { describe, expect, it } from "vitest";
import type { CommandLocation } from "./command-place.ts";
import { judgeCommand } from "./command-policy.ts";
import { parseRule } from "./rules.ts";

/** `sub/link` and `top` lead out of the root, and a file is called `-rf`. */
const PLACE: CommandLocation = {
  root: "/project",
  leadsOutside: (path) => path === "/project/sub/link" || path === "/project/top",
  realPaths: (path, isPattern) => (isPattern && path === "/project/dashes/-*" ? [path] : []),
};

function judged(command: string) {
  return judgeCommand({ command, mode: "default", rules: { allow: [], ask: [], deny: [] }, place: PLACE });
}

it("P21 P18 a line that may be in more folders than can be looked at asks, and is judged at once", () => {
  const moves = (count: number) => [...Array(count).keys()].map((at) => `cd d${at}; `).join("");
  expect(judged(`${moves(5)}cat a`).verdict).toBe("allow");
  for (const line of [
    `${moves(40)}cat a`,
    `${"cd a; ".repeat(400)}cat a`,
    `${"cd a && ".repeat(12_000)}cat a`,
  ])
    expect(judged(line)).toMatchObject({ verdict: "ask", reason: expect.stringContaining("outside") });
});

it.each<[what: string, sign: string, of: (many: string) => string, verdict: string]>([
  ["a folder", "/-", (many) => `cd a${many}/b`, "allow"],
  ["a path", "/", (many) => `cat a${many}b`, "allow"],
  ["an option", "A", (many) => `curl https://a.test -${many}~`, "ask"],
  ["a sourced name", "A", (many) => `. $a/-${many}~`, "ask"],
])(
  "P18 lines with %s of very many %s are judged in time that grows with their length",
  (...[, sign, of, verdict]) => {
    const deny = [parseRule("read_file(secret/**)")];
    const rules = { allow: [parseRule("run_shell_command(curl https://a.test)")], ask: [], deny };
    const command = of(sign.repeat(99_000 / sign.length));
    for (let time = 0; time < 40; time += 1)
      expect(judgeCommand({ command, mode: "default", rules, place: PLACE }).verdict).toBe(verdict);
  },
);

it("P54 a rule with 300,000 spaces is read once", () => {
  expect(() => parseRule(`edit${" ".repeat(300_000)}x`)).toThrow("is not a rule");
  expect(parseRule(" edit (a) ")).toMatchObject({ tool: "edit", pattern: "a" });
});

describe("what only reads", () => {
  it.each([
    ...["CI=1 ls", "IFS= read -r line", "ls 2>&1", "cat <<< /etc/hosts", 'cat <<< "$HOME"', "ls > /dev/null"],
    ...[`echo "\${HOME}"`, `echo "\${#HOME}"`, `echo "\${HOME%/*}"`, `for f in a b; do echo "\${f%b}"; done`],
    ...['for f in *; do cat "$f"; done', "for f in a b; do cat $f; done", "echo $(wc -l < a)"],
    ...["echo $(cat a | wc -l)", "echo $(wc -l 2> /dev/null < b)", 'while read -r l; do echo "$l"; done < a'],
    ...['[ "$HOME" = /x ]', 'test ! "$HOME" = a', 'test -n "$HOME"', 'test -z "$HOME"', "[ -5 -lt 3 ]"],
    ...["[ /etc/x = /etc/y ]", "[ -n /etc/x ]", "printf '%s' a", "printf -- '%s' a", "printf", "cd sub"],
    ...["find . -newer a.txt", "find . -type f -exec echo f:{} ';'", "git --version", "git grep /etc/x"],
    ...["jq -n --arg a x --rawfile b a '$b'", "jq --argjson /etc 1 --tab . a"],
    ...["yq eval '.a' b", "ruby -v", "git reflog HEAD", "find . | xargs -d '\\n' grep x"],
    ...["git config --worktree -l", "git branch", "git log --author=%G", "git stash list", "git remote -v"],
    ...[
      "cut -d, -f1 a",
      "sort -- -o",
      "date -Iseconds",
      "date -u -d 'last monday' '+%F %T'",
      "date +%s",
      "date -r a +%F",
      "fd",
      "fd -e ts -t f x src",
      "fdfind -HI --max-depth=2 '^a' sub",
      "fd -p x",
      "grep -5 x a",
      "cut -f1 -",
      "npm --version",
      "cut -f *",
    ],
    ...[
      "awk -v x=1 '{print}' a",
      "awk",
      "tar tf a.tar",
      "command -v ls",
      "sed --expression=p a",
      "sed -n 's/[^[:space:]_]*[a-z]/x/p' a",
      "sed 's:[a/]:x:' a",
      "awk -v OFS=, -v RS= '{print}' a",
      "jq '{env: .x, a: .env}' a",
      "tree -aL 2 -I node_modules",
      "tree -L2",
      "base64 -d a",
      "base64 -- -d",
      "wc -l -- a",
      "diff -u -- a b",
      "sed",
      "sed p a",
    ],
    ...[
      "tr a /etc/x",
      "grep /etc/x a",
      "md5sum a",
      "ls -- -x",
      "ls *",
      "jq --arg a b . x.json",
      "jq",
      "printenv HOME",
    ],
    ...[
      "uniq a",
      "env CI=1 ls",
      "nice -n 5 ls",
      "timeout 5 ls",
      "bash -c ls",
      "xargs -n 1 echo",
      "ls | xargs -n 1 echo",
    ],
    ...[
      "exit $?",
      'printf "%s" "$HOME"',
      "printf -- '---'",
      "printf -- '-%s' a",
      "find . -path /etc/x",
      "CI+=1 ls",
    ],
    ...["printf '%s' a > /dev/null", "nice ls", "cat a >&2"],
  ])("P22 runs unasked: %s", (command) => {
    expect(judged(command)).toMatchObject({ verdict: "allow", reads: "wholly" });
  });

  it("P22 has the body of a loop in its parts once", () => {
    expect(judged("for i in 1 2 3; do echo $i; done").parts).toHaveLength(1);
    const nested = "for i in 1 2; do for j in 1 2; do echo $i$j; done; done";
    expect(judged(nested).parts).toHaveLength(1);
    expect(judged("while read -r l; do echo $l; done < a").parts?.map(({ text }) => text)).toContain(
      "read -r l",
    );
  });
});

describe("what may do more than its words say", () => {
  it.each([
    ...[
      "ls | xargs cat <<< /etc/hosts",
      "ls | xargs cat < names",
      "find . -printf '/etc/hosts\\n' | xargs cat",
    ],
    ...['ls | while read -r a b; do cat "$a"; done', "find . -exec cat x{} ';'", "cat a | xargs -I{} cat {}"],
    ...["CI=1", "CI=../x ls", "CI=$(x) ls", "IFS=x ls", "IFS=$x read -r a", "A+=x ls", "CI=* ls"],
    ...["ls >& out", "ls <> out", "ls 2> out", "exec {fd}> out", "cat < $x"],
    ...[
      `echo "\${HOME@P}"`,
      `echo "\${HOME:-$(rm a)}"`,
      `echo "\${HOME/a/b}"`,
      `echo "\${!HOME}"`,
      `echo "\${x}"`,
    ],
    ...['for f in "a b"; do cat $f; done', `for f in a b; do cat "\${f%b}"; done`],
    ...["echo $(cat a)", "echo $(wc -l; cat a)", "echo $(wc -l a > b)", "for f; do echo x; done"],
    ...["for i in $(seq 1 50); do for j in $(seq 1 50); do cat $i; done; done; cat $i"],
    ...['for d in a b; do cd $d; done; for f in *; do cd "$f"; done', "export A=1", "export A"],
    ...['[ "$HOME" = /x', 'test -f "$HOME"', 'test "$HOME" -ef a', 'test "$HOME" = a -o b', "test -v x[1]"],
    ...["test -f '!('*", "test -f *'{1..3}'"],
    ...[
      "[ -f /etc/hosts ]",
      "[ -f top ]",
      "[ *f = a ]",
      "printf -v x a",
      "printf '%n' x",
      "printf -- '-%n' x",
    ],
    ...["read -p x y", "read x*", "read 'x[1]'", "cd", "cd -", "cd a b", "cd a/..", "cd a/../b", "cd *"],
    ...["grep -R x src/*", "ls | xargs sed", "ls | xargs awk", "git", "git -C sub log", "git -c a=b log"],
    ...["git --git-dir sub log", "git grep -e x /etc/hosts", "git log -- /etc/hosts", "git log --format=%G?"],
    ...[
      "git branch x",
      "git config",
      "git stash -- list",
      "git stash -u list",
      "git remote add x y",
      "env",
      "env -S ls",
    ],
    ...[
      "jq . -- --arg x /etc/hosts",
      "jq --indent --arg . /etc/hosts",
      "jq --arg * . . a",
      "shasum --CHECK a",
    ],
    ...["awk 'BEGIN{bindtextdomain(\"/etc\")}'", 'awk \'BEGIN{TEXTDOMAIN="../x"; print _"a"}\''],
    ...["date -r /etc/hosts", "grep -f /etc/x a", "rg --file=/etc/x a", "rg --file /etc/x a", "cut -5 a"],
    ...[
      "npm --version x",
      "foo --version",
      "foo",
      "awk -v ARGV=1 '{print}' a",
      "awk '{print}' FS=x",
      "awk p*",
      "awk -v * 1",
    ],
    ...[
      "tar tf a.tar x",
      "tar tf *.tar",
      "tar tf host:a",
      "tar tf -x",
      "sed --expression='w x' a",
      "sed p /etc/hosts",
    ],
    ...[
      "uname x",
      "grep -e x /etc/hosts",
      "md5sum -c a",
      "md5sum --check a",
      "md5sum --chec a",
      "cat --x=/etc/hosts",
    ],
    ...[
      "ls -*",
      "jq --slurpfile a /etc/x . b",
      "jq --arg * b . c",
      "jq env a",
      "jq p* a",
      "strings @a",
      "strings *",
    ],
    ...[
      "printenv H*",
      "printenv AWS_KEY",
      "printenv",
      "uniq a b",
      "uniq *",
      "date 0101",
      "date -r *",
      "date -r top",
      "fd -x rm",
      "fd x -X rm",
      "fd --exec rm",
      "fd -HIx rm",
      "fd -l",
      "fd x /etc",
      "fd x top",
      "fd --search-path /etc x",
      "fd --ignore-file=/etc/x y",
      "fd --base-directory .. y",
      "date +%s 0101",
      "date -s 0101",
      "date -d x --reference=a",
      "cd dashes && ls *",
      "hexdump -f a",
    ],
    ...[
      "bash a",
      "bash",
      "xargs",
      "nice -n x5 ls",
      "timeout 5 cat /etc/hosts",
      "./ls",
      "ls /etc",
      "eval 'ls'; eval 'rm a'",
    ],
    ...[
      "for f in a /etc/hosts; do cat $f; done",
      "PATH=. read -r a",
      'printf "$HOME"',
      "printf '%n' \"$HOME\"",
    ],
    ...[
      "git -p",
      "git --exec-path=sub",
      "echo $(git rev-parse HEAD 2>&1)",
      `echo "\${HOME[$(foo)]}"`,
      "[ a = -v ]",
    ],
    ...["find -L src/* -name x", "git checkout -- -x"],
    // What other systems' programs of that name do with these.
    ...["base64 a -o x", "base64 --output=x a", "sed -l 'w x' p", "file -p a", "python3 -v", "python -v"],
    ...["tree -Po x y", "tree -Inode_modules y", "tree -aLo 1 y", "sed 's:[[:a:]:]:x:' a", "sed 'y/[/]/' a"],
  ])("P21 asks: %s", (command) => {
    expect(judged(command).verdict).toBe("ask");
  });

  it.each([
    ["cd sub; cat link"],
    ["cd sub && cat link"],
    ["cd sub || cat top"],
    ["(cd sub) && cat top"],
    ["cd sub || true && cat top"],
    ["cd sub | cat top"],
    ['cd sub && echo "$(cd deeper && ls)" && cat link'],
    ["cat top && (cd sub && ls)"],
  ])("P21 counts each folder in which a command may run: %s", (command) => {
    expect(judged(command)).toMatchObject({
      verdict: "ask",
      part: /link/.test(command) ? "cat link" : "cat top",
    });
  });

  describe("git that goes to a folder itself", () => {
    const planted = { nature: "program", what: "git would run a program" } as const;
    const repositoryFault = (folder: string) => (folder.startsWith("/project/planted") ? planted : null);
    const verdict = (command: string, allow: string[] = []) => {
      const rules = { allow: allow.map(parseRule), ask: [], deny: [] };
      return judgeCommand({ command, mode: "default", rules, place: { ...PLACE, repositoryFault } }).verdict;
    };

    it.each([
      ...["git -C sub status", "git -C /project/sub log -- ../a", "git --no-pager -C sub diff a.txt"],
      ...["git -C sub -C deeper log", "git -C sub --no-pager show HEAD", "cd sub && git -C .. status"],
    ])("P21 only reads there, as after a cd: %s", (command) => expect(verdict(command)).toBe("allow"));

    it.each([
      ...["git -C planted status", "git -C sub -C ../planted log", "git -C sub push", "git -C sub"],
      ...["git -C /etc log", "git -C top log", "git -C .. log", "git -C sub/../sub log", "git -C '' log"],
      ...["git -C sub diff link", "git -C sub diff ../../x", "git -C sub grep x *", "git -C * log"],
      ...["git -C -p log", "git -C ~ log", "git -C sub -c a=b log", "git -C sub log --output=x", "git -C"],
    ])("P21 asks: %s", (command) => {
      expect(verdict(command)).toBe("ask");
      expect(verdict(command, ["run_shell_command(git -C)"])).toBe("ask");
    });
  });

  it("P21 what the system shows of processes and devices is outside also where the root is the whole disk", () => {
    const ask = (command: string, root: string) =>
      judgeCommand({ command, mode: "default", rules: { allow: [], ask: [], deny: [] }, place: { root } });
    for (const path of [
      "proc/1/environ",
      "/proc/1/environ",
      "//proc/1/environ",
      "./dev/mem",
      "etc/../sys/x",
    ]) {
      expect(ask(`cat ${path}`, "/").verdict, path).toBe("ask");
    }
    expect(ask("cat etc/hosts /home/a /dev/null", "/").verdict).toBe("allow");
    expect(ask("cat a /dev/shm/project/b", "/dev/shm/project").verdict).toBe("allow");
  });

  it("P21 does not ask for where a command surely is not", () => {
    expect(judged("cd sub && cat top").verdict).toBe("allow");
    expect(judged("cat link").verdict).toBe("allow");
  });

  describe("the folder that git names as the top of the work tree", () => {
    const verdict = (command: string, top: string | null) => {
      const rules = { allow: [], ask: [], deny: [] };
      const place = { ...PLACE, repositoryFault: () => null, workTreeOf: () => top };
      return judgeCommand({ command, mode: "default", rules, place }).verdict;
    };
    const TOP = "$(git rev-parse --show-toplevel)";

    it.each([
      ...[`cd "${TOP}" && ls`, `cd ${TOP}; ls sub`, `ls "${TOP}/sub"`, `cd sub && cd "${TOP}" && cat ./a`],
      ...[`echo "${TOP}"`, `(cd "${TOP}/sub" && ls) | head`],
    ])("P22 it is as good as its name: %s", (command) => expect(verdict(command, "/project")).toBe("allow"));

    it.each([
      [`cd "${TOP}" && ls`, "/"],
      [`cd "${TOP}" && ls`, "/project/a b"],
      [`cd "${TOP}" && ls`, null],
      [`cd "${TOP}" && cat link`, "/project/sub"],
      [`cd sub && cd "${TOP}" && cat link`, "/project"],
      [`cd "${TOP}/.." && ls`, "/project"],
      [`cd "${TOP}/link" && ls`, "/project/sub"],
      [`export GIT_WORK_TREE=/; cd "${TOP}"`, "/project"],
      [`cd "$(git -C / rev-parse --show-toplevel)"`, "/project"],
      [`cd "$(git rev-parse --show-toplevel; echo /)"`, "/project"],
      [`"${TOP}/a"`, "/project"],
    ])("P21 asks: %s in %s", (command, top) => expect(verdict(command, top)).toBe("ask"));
  });

  it("P21 what only bash reads like this is asked about for another shell", () => {
    const rules = { allow: [], ask: [], deny: [] };
    const asked = (command: string, isPosixShell: boolean) =>
      judgeCommand({ command, mode: "plan", rules, place: { ...PLACE, isPosixShell } }).verdict;
    const lines = [
      "[[ a > b ]]",
      "if ls; then [[ ! a < b ]]; fi",
      "cd sub &> /dev/null && cat ../a",
      "cd sub |& cat",
      "cat <(ls)",
      "cat <<< a",
      'for i in {1..3}; do cat "$i"; done',
      "cat <<$'A'\nb\n$A",
      // A Korn shell runs what stands in such brackets.
      "[ 1 -eq 'a[$(b)]' ]",
      'test "$(cat a)" "-lt" 2',
    ];
    for (const line of lines) {
      expect(asked(line, false), line).toBe("allow");
      expect(asked(line, true), line).toBe("deny");
    }
    expect(asked("bash -c '[[ a > b ]]'", true)).toBe("allow");
    expect(asked("sh -c '[[ a > b ]]'", false)).toBe("deny");
    for (const line of ['[ $? -eq 0 ] && test 1 -lt "$#"', '[ "$(cat a)" = b ]'])
      expect(asked(line, true), line).toBe("allow");
    for (const line of ['grep "[[:space:]]" a | cat 2>&1', "cat <<A\nb\nA", 'for i in a; do cat "$i"; done'])
      expect(asked(line, true), line).toBe("allow");
  });
});
