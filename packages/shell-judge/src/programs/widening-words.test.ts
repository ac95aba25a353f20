import { describe, expect, it } from "vitest";
import { judgeCommand } from "../command-policy.ts";
import { parseRule } from "../rules.ts";
import { SAME_COMMANDS } from "./same-commands.ts";

const none = { allow: [], ask: [], deny: [] };
const place = { root: "/project" };

function judged(command: string, lists: { readonly allow?: string; readonly deny?: string } = {}) {
  const rules = (words?: string) => (words === undefined ? [] : [parseRule(`run_shell_command(${words})`)]);
  const all = { ...none, allow: rules(lists.allow), deny: rules(lists.deny) };
  return judgeCommand({ command, mode: "default", rules: all, place }).verdict;
}

describe("a word that counts as the value of an option", () => {
  it.each([
    "rg -f=/etc/shadow -e '(' a.txt",
    "rg -nf=/etc/shadow -e x a.txt",
    "grep -f=/etc/shadow x a.txt",
    "git diff -U /etc/shadow README.md",
    "git diff --unified /etc/shadow README.md",
    "git log -n --output=x",
    "git log --max-count --output=x",
    "git diff -l /etc/shadow a",
    "grep -m /etc/shadow x a",
    "sort -k /etc/shadow a",
    "sort --key --compress-program=x a",
    "cut -f /etc/shadow a",
    "shuf -n /etc/shadow",
    "fd -t /etc x",
    "rg --max-count /etc/shadow x",
  ])("P21 P19 is judged as a path or an option where it does not look like a value: %s", (command) => {
    expect(judged(command)).toBe("ask");
  });

  it.each([
    "rg -f patterns.txt src",
    "rg -A 3 -B2 -t ts x src",
    "rg -g '/src/**' --replace /a x",
    "git diff -U5 README.md",
    "git diff --unified=5 README.md",
    "git log -n 5 --grep /api --since '2 weeks ago'",
    "git log -S /api/v1",
    "grep -e /api -m 1 src/a.ts",
    "sort -t / -k 2,2n a",
    "cut -d / -f 1,3- a",
    "paste -d / a b",
    "jq --indent 2 . a.json",
    "git blame -L 10,20 a.ts",
    "git ls-files -x '/dist'",
    "head -c 1k a",
  ])("P22 runs unasked where it does: %s", (command) => {
    expect(judged(command)).toBe("allow");
  });
});

describe("descriptors and processes", () => {
  it.each([
    "cat /dev/fd/20",
    "cat /dev/fd/63",
    "cat < /dev/fd/20",
    "cat <&20",
    "cat 0<&3",
    "diff <(ls) /dev/fd/63",
    "cat /proc/self/fd/20",
    "cat /proc/1/environ",
    "cat //dev/fd/20",
    "head -n 1 /dev/./fd/9",
    "grep -f /dev/fd/20 a",
  ])("P21 P19 are not read unasked: %s", (command) => {
    expect(judged(command)).toBe("ask");
    expect(judgeCommand({ command, mode: "plan", rules: none, place }).verdict).not.toBe("allow");
  });

  it.each(["ls 2>&1", "ls 3>&1 1>&2 2>&3", "diff <(ls a) <(ls b)", "echo a | cat /dev/stdin", "ls >&2"])(
    "P22 of the command itself are: %s",
    (command) => {
      expect(judged(command)).toBe("allow");
    },
  );
});

describe("a rule that allows", () => {
  it.each([
    ["git fetch", "git fetch file:///etc/other"],
    ["git fetch", "git fetch file:/etc/other main"],
    ["git fetch", "git fetch file://localhost/etc/other"],
    ["git fetch", "git fetch file:///project/%2e%2e/other"],
    ["git fetch", "git fetch -m /etc/other"],
    ["git pull", "git pull --rebase file:///etc/other"],
    ["git clone", "git clone file:///etc/other a"],
    ["git ls-remote", "git ls-remote FILE:///etc/other"],
    ["git rebase", "git rebase -m /etc/other"],
    ["node --test", "node --test -e CODE"],
    ["node --test", "node --test --eval=CODE"],
    ["node --test", "node --test -p 1"],
    ["node --test", "node --test -r ./x.js"],
    ["node --test", "node --test --import ./x.js"],
    ["node --test", "node --test --test-reporter=./x.js"],
    ["node --test", "node --test -"],
    ["python3 -u", "python3 -u -c CODE"],
    ["python3.11 -u", "python3.11 -u -c CODE"],
    ["perl -w", "perl -w -e CODE"],
    ["perl -w", "perl -w -i -pe s/a/b/"],
    ["ruby -w", "ruby -w -rx -eCODE"],
    ["php -n", "php -n -r CODE"],
    ["lua", "lua -e CODE"],
    ["convert", "convert '|sh' a.png"],
    ["convert", "convert a.png '|sh'"],
    ["convert", "convert @/project/list a.png"],
    ["magick", "magick 'png:|sh' a.png"],
    ["identify", "identify msl:a.msl"],
    ["foo", "foo '|sh'"],
    ["foo", "foo 'sh|'"],
    ["tar czf", "tar czf example.org:/x src"],
    ["tar", "tar -cf me@example.org:x src"],
    ["tar", "tar --file=example.org:x -c src"],
    ["rsync -a src", "rsync -a src example.org:/x"],
    ["rsync -a src", "rsync -a src example.org::x"],
    ["rsync -a src", "rsync -a src rsync://example.org/x"],
    ["ffmpeg", "ffmpeg -i concat:/etc/hosts a.mp4"],
    ["gnuplot", "gnuplot -e 'system(1)'"],
  ])("P21 %j does not cover %j", (allow, command) => {
    expect(judged(command, { allow })).toBe("ask");
  });

  it.each([
    ["git fetch", "git fetch origin main"],
    ["git fetch", "git fetch file:///project/other"],
    ["git commit", "git commit -m /etc/hosts"],
    ["git merge", "git merge -m /a topic"],
    ["node --test", "node --test --test-name-pattern=x a.test.js"],
    ["node --test", "node --test a.test.js -e x"],
    ["python3 manage.py", "python3 manage.py migrate -c x"],
    ["python3 -m pytest", "python3 -m pytest -x tests"],
    ["perl a.pl", "perl a.pl -e x"],
    ["convert", "convert a.png -resize '50%' b.jpg"],
    ["foo", "foo 'a|b'"],
    ["tar czf", "tar czf a.tgz src"],
    ["rsync -a src", "rsync -a src dist/"],
    ["scp", "scp a.txt example.org:b.txt"],
    ["ffmpeg", "ffmpeg -i a.mov b.mp4"],
  ])("P22 %j covers %j", (allow, command) => {
    expect(judged(command, { allow })).toBe("allow");
  });
});

describe("a rule that forbids", () => {
  it.each(SAME_COMMANDS.map(({ example, wording }) => [...example, wording] as const))(
    "P21 %j stops %j",
    (deny, command) => {
      expect(judged(command, { deny })).toBe("deny");
    },
  );

  it.each([
    ["git push", "/usr/lib/git-core/git-push origin main"],
    ["git push", "git-send-pack origin main"],
    ["git push", "env A=b git send-pack origin"],
  ])("P21 %j stops %j by the name of git's own program", (deny, command) => {
    expect(judged(command, { deny })).toBe("deny");
  });

  it.each([
    ["git push", "git fetch-pack origin"],
    ["git push", "git log send-pack"],
    ["git push --force", "git send-pack origin main"],
    ["pip install", "python -m pip list"],
  ])("P22 %j does not stop %j", (deny, command) => {
    expect(judged(command, { deny })).not.toBe("deny");
  });
});
