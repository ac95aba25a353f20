import { describe, expect, it } from "vitest";
import type { CommandLocation } from "./command-place.ts";
import { judgeCommand } from "./command-policy.ts";

/** `top` leads out of the root; `links` holds a link out, and `odd` a name with a space. */
const PLACE: CommandLocation = {
  root: "/project",
  leadsOutside: (path) => /\/(?:top|packed\.gz|packed\.zip)$/.test(path),
  realPaths: () => [],
  oddNamesInGit: () => [],
  repositoryFault: () => null,
  treeBelow: (folder) => ({
    linksOut: folder === "/project/links" ? ["link.txt"] : [],
    oddNames: folder === "/project/odd" ? [{ name: "a b", isFolder: false }] : [],
  }),
};

function judged(command: string) {
  return judgeCommand({ command, mode: "default", rules: { allow: [], ask: [], deny: [] }, place: PLACE });
}

describe("variables that a line sets for itself", () => {
  it.each([
    ...[
      "f=a; cat $f",
      "f='a b'; cat \"$f\"",
      "x=a y=b; cat $x $y",
      "cd sub && f=a && cat $f",
      "f=a\ncat < $f",
    ],
    ...['n=$(wc -l < a); echo "$n"', 'f=a; x=$(cat "$f"); echo "$x"', "for f in *; do cat $f; done"],
    ...[
      "f=top; f=a; cat $f",
      "f=a; if true; then cat $f; fi",
      "f=a; (cat $f)",
      'VERSION=$(cat a); echo "$VERSION"',
    ],
    ...['for d in a b; do n=$(wc -l < "$d"); echo "$d $n"; done', "for c in HEAD HEAD~1; do cat $c; done"],
    ...['find sub | while read -r f; do n=$(wc -l < "$f"); echo "$n $f"; done', 'BASE=a; cat "$BASE"'],
    ...["for d in a b; do for f in c d; do p=$d/$f; cat $p; done; done", "f=a; set +e; cat $f"],
  ])("P22 are known: %j", (command) => expect(judged(command).verdict).toBe("allow"));

  it.each([
    ...[
      "f=top; cat $f",
      "f=a; f=top; cat $f",
      "f=a; ls && f=top; cat $f",
      "f=top; ls && f=a; cat $f",
      "cat $f; f=a",
    ],
    ...[
      "false && f=a || cat $f",
      'for f in a b; do cat "$n"; n=top; done',
      "n=a; for f in a b; do n=top; done; cat $n",
      "for f in a b; do n=a; n=top; cat $n; done",
      "for f in a b; do n=a; done; cat $n",
      "for f in a b; do ls && n=a; cat $n; done",
      "for f in a b; do for n in a; do n=top; cat $n; done; done",
      "for c in 'a *'; do cat $c; done",
      "false && f=a; cat $f",
      "ls || f=a; cat $f",
      "f=a & cat $f",
      "f=a | ls; cat $f",
    ],
    ...[
      "(f=a); cat $f",
      "{ f=a; }; cat $f",
      "! f=a; cat $f",
      "time f=a; cat $f",
      "if f=a; then ls; fi; cat $f",
    ],
    ...[
      "f=a; g() { f=top; }; g; cat $f",
      "f=a; read f; cat $f",
      "f=a; f=top :; cat $f",
      "f=a; for f in top; do :; done; cat $f",
    ],
    ...[
      "f=a; echo $((f=1)); cat $f",
      `f=a; : \${f:=b}; cat $f`,
      "f=a; eval 'f=top'; cat $f",
      "f=a; while read -r f; do cat $f; done",
    ],
    ...[
      "f=~; ls $f",
      "f=*; cat $f",
      "f='*'; cat $f",
      "f='a top'; cat $f",
      "f+=a; cat $f",
      "f[0]=a; cat $f",
      "f=-o; sort $f a b",
    ],
    ...[
      "PATH=sub; ls",
      "IFS=/; f=a; cat $f",
      "f=<(rm a); cat $f",
      'f=$(rm a); echo "$f"',
      "f=$(cat a); cat $f",
      "d=..; cat $d/x",
    ],
    ...[
      "LD_PRELOAD=a; ls",
      "git_dir=a; ls; npm_config_x=a",
      "f=rm; $f a",
      "f=$(cat a); echo $f",
      "f=a; export f=top; cat $f",
    ],
  ])("P21 are not, or lead elsewhere: %j", (command) => expect(judged(command).verdict).toBe("ask"));
});

describe("names that a command prints for another one", () => {
  it.each([
    ...["find sub | xargs grep -i x", "find sub | xargs -I{} grep -i x {}", "env CI=1 ls -S"],
    ...["cat $(ls sub)", "wc -l $(find sub -name '*.ts')", "for f in $(find sub); do cat $f; done"],
    ...["for f in sub/*; do head -3 $f; done", "find sub | while read f; do head $f; done", "cat {a,b}.txt"],
    ...[
      'find sub | while read -r f; do wc -l < "$f"; done',
      "awk '$1 > 3 {print}' a",
      "awk '{ if ($1 > 3) print \"|\" }' a",
    ],
    ...[
      "awk 'length > 80' a",
      `awk 'BEGIN{FS=","} $3>10{print}' a`,
      `awk -F: '/a>b/ && $2 > 1 { n++; print $1 } END { if (n > 2) print "> 2 | " n }' a`,
      'awk \'{ print ($1 > 2) ? "a" : "b" # > c\n}\' a',
      "awk '{ s += $1 / 2 } s > 9 / 3 { print s; next } $2 ~ /[>|\"]/' a",
      `awk '{ system_time = $1 "system(" } $2 > 1' a`,
      "git diff @{u}..",
      "git -c core.pager=cat log",
      "GIT_PAGER=cat git diff",
      `echo "\${PIPESTATUS[0]}"`,
    ],
  ])("P22 runs unasked: %s", (command) => expect(judged(command).verdict).toBe("allow"));

  it.each([
    ...["find links | xargs grep -i x", "find odd | xargs -r diff -ai a", "find links | xargs ls -I x"],
    ...[
      "cat $(find links -name '*.ts')",
      "cat $(find odd)",
      "for f in links/*; do cat $f; done",
      "for f in odd/*; do echo $f; done",
    ],
    ...[
      "for f in $(find odd); do cat $f; done",
      "find links -name '*.ts' | while read f; do cat $f; done",
      "cat {a,top}",
    ],
    ...[
      "cat $(cat a)",
      "cat $(find sub; cat a)",
      "cat $(find sub | (cat; cat a))",
      "rm $(find sub)",
      "uniq $(find sub)",
      "sed $(ls sub) a",
    ],
    ...[
      'cat a | while read -r f; do wc -l < "$f"; done',
      'find sub | while read -r f; do echo > "$f"; done',
      "sort {-o,b} a",
    ],
    ...[
      "awk '{print > \"a\"}' a",
      "awk '{ if (1) { x } print > \"a\"; if (1) { y } }' a",
      'awk \'/"/{print > "a"} /"/\' a',
    ],
    ...[
      "awk '{print (1)(2) > \"a\"}' a",
      'awk \'/[/]/ { print "x" } /" > "f"/\' a',
      "awk '{ if (1) /x/; print $1 / 2 > \"f\" }' a",
      "awk '{ print $1,\n$2 > \"f\" }' a",
      'awk \'{ x = length / 2; print "b" >"f" # / 3\n}\' a',
      `awk '$1 > 2 { print | "sh" }' a`,
      `awk 'BEGIN { while (("date") | getline d) n++ } n > 1' a`,
      `awk '{ for (print 1 > "f"; i < 1; i++) n++ }' a`,
      `awk '{ while ((getline l < "../b") > 0) print l }' a`,
      'awk \'{print "}" > "a"}\' a',
      'awk \'{ # "\nprint > "a" # "\n}\' a',
    ],
    ...[
      "PAGER=a git log",
      "git -c core.pager=a log",
      "git -c color.ui=never push",
      "xxd -ps a b",
      "unzip -l 'to*'",
      "gzip a",
    ],
    ...[
      "git symbolic-ref HEAD refs/heads/x",
      "git config user.name x",
      "yq '.a | load(\"top\")' a",
      "yq 'strload(\"top\")' a",
      "yq '. *nload(\"top\")' a",
      "zcat packed",
      "gzip -dc packed",
      "unzip -l packed",
      "awk 'BEGIN { extension(\"./a.so\") }'",
      "yq top",
      "ps -eo pid,environ",
    ],
  ])("P21 asks: %s", (command) => expect(judged(command).verdict).toBe("ask"));

  it.each([
    ...["cat $(find . -print0)", "for f in $(find sub -print0); do cat $f; done", "cat $(grep -lZ a .)"],
    ...['find . -print0 -print | while read -r f; do ls "$f"; done', "find sub -name '*.ts' | xargs -0 cat"],
    ...[
      "find sub -print -print0 | xargs -0 cat",
      "find sub -print0 | xargs cat",
      "git ls-files | xargs -0 cat",
    ],
  ])("P21 a NUL that a shell leaves out, or a line that is not ended by one, joins names: %s", (command) => {
    expect(judged(command).verdict).toBe("ask");
  });

  it.each([
    ...["find sub -print0 | xargs -0 cat", "find sub -size +1k -print0 | xargs -r --null wc -l"],
    ...["grep -rlZ a sub | xargs -0 head -1", "cat $(find sub -size +1k)"],
  ])("P22 names that are ended as they are read run unasked: %s", (command) => {
    expect(judged(command).verdict).toBe("allow");
  });

  it.each([
    ...[
      'tail "$(ls -t *.log | head -1)"',
      'f=$(find sub -name "*.ts" | head -1); cat "$f"',
      'wc -l "$(ls sub)"',
    ],
    ...['while read -r f; do wc -l "$f"; done < <(find sub)', 'f=$(ls sub) && for g in $f; do wc "$g"; done'],
    ...[`while IFS= read -r -d '' f; do wc -l "$f"; done < <(find sub -print0)`, "N=$(wc -l <a); echo $N"],
    ...["[[ $(ls | wc -l) -gt 3 ]]"],
    ...['[ -n "$(find sub)" ] && echo a', 'f=$(find sub); echo "$f" | head', "x=$(date +%s); echo $x"],
  ])("P22 names that are kept in a variable, quoted or fed to a loop run unasked: %s", (command) => {
    expect(judged(command).verdict).toBe("allow");
  });

  it.each([
    ...['cat "$(find links)"', 'f=$(find links | head -1); cat "$f"', 'cat "$(cat a)"', 'cat "$(ls; cat a)"'],
    ...['f=$(cat a); cat "$f"', 'cat "$(ls sub)/../../b"', 'f=$(ls sub); cat "$f/../../b"', 'rm "$(ls sub)"'],
    ...[
      'while read -r f; do cat "$f"; done < <(cat a)',
      'while read -r f; do cat "$f"; done < <(find links)',
    ],
    ...['cat a | while read -r f; do cat "$f"; done 3< <(find sub)', 'sed "$(ls sub)" a', 'bash "$(ls sub)"'],
    ...[
      'while read -r f; do cat "$f"; done < <(find sub) < <(cat a)',
      'cd "$(ls sub)" && ls',
      "N=$(cat a); echo $N",
    ],
    ...[
      'while read -r f; do rm "$f"; done < <(find sub)',
      'while read f; do cat "$f"; done < <(find sub; cat a)',
    ],
    ...[
      `while read -r -d '' f; do cat "$f"; done < <(find sub)`,
      "while read f; do cat $f; done < <(find sub -print0)",
    ],
    ...["[[ $(echo 'a[$(b)]' wc -l) -gt 3 ]]", "[[ $(cat a)$(ls | wc -l) -gt 3 ]]", "[[ $(cat a) -gt 3 ]]"],
    ...[
      "rg -n a | xargs cat",
      "ls 2>&1 | xargs cat",
      "grep -rl -e a links | xargs cat",
      "find l* | xargs cat",
    ],
    ...["cd sub && git ls-files ../links | xargs cat", "cd sub && git ls-files /project/links | xargs cat"],
    ...['find sub -print0 | while read -r -d a f; do cat "$f"; done', "N=$(wc -l <a 2>&1); echo $N"],
  ])("P21 but not where something else may be in them: %s", (command) => {
    expect(judged(command).verdict).toBe("ask");
  });

  const inTree = (command: string) => {
    const place = { ...PLACE, repositoryFault: () => null, workTreeOf: () => "/project" };
    return judgeCommand({ command, mode: "default", rules: { allow: [], ask: [], deny: [] }, place });
  };

  it.each([
    ...["git diff $(git merge-base HEAD main)...HEAD", 'git show "$(git rev-parse HEAD~1)":a', "rg --help"],
    ...["BASE=$(git merge-base HEAD main) && git diff $BASE --stat", "wc -l $(find sub | grep '\\.ts$')"],
    ...['root=$(git rev-parse --show-toplevel); cd "$root" && ls', 'h=$(git rev-parse HEAD); echo "$h"'],
    ...['root="$(git rev-parse --show-toplevel)" && cat $root/a', "git show $(git rev-list -n 1 --all HEAD)"],
  ])("P22 git's own answers may be used, unasked: %s", (command) => {
    expect(inTree(command).verdict).toBe("allow");
  });

  it.each([
    ...[
      "cat $(git rev-parse HEAD)",
      "git diff --no-index $(git rev-parse HEAD) a",
      "cat < $(git rev-parse HEAD)",
    ],
    ...["h=$(git rev-parse HEAD); cat $h", "git show $(git rev-parse x)", "git log $(git describe --tags)"],
    ...["git log $(git rev-list --boundary HEAD)", "git log $(git merge-base a b; echo --output=x)"],
    ...["git log --output=$(git rev-parse HEAD)", 'wc $(find sub | grep "$(cat a)")'],
    ...[
      'root=$(git rev-parse --show-toplevel); cd sub; cat "$root/a"',
      "root=$(git rev-parse HEAD); cd $root",
    ],
    'root=$(git rev-parse --show-toplevel); root=/etc; cd "$root"',
    // Words that could be read in more than one way took twice as long with each letter.
    "git show $(git rev-list -1 feature_for_the_new_search_pages -- a.ts)",
  ])("P21 but not where they would name a file or an option: %s", (command) => {
    expect(inTree(command).verdict).toBe("ask");
  });

  it("P22 a commit that git names is not offered as a rule", () => {
    expect(inTree("git push a $(git rev-parse HEAD):main").grants).toEqual([]);
  });

  it("P21 what stands for many names is not offered as a rule", () => {
    const wide = 'find sub | while read -r f; do rm "$f"; done';
    expect(judged(wide)).toMatchObject({ verdict: "ask", part: 'rm "$f"', grants: [] });
    expect(judged("rm $(find sub)").grants).toEqual([]);
  });
});
