import { describe, expect, it } from "vitest";
import type { CommandLocation } from "./command-place.ts";
import { judgeCommand } from "./command-policy.ts";
import { parseRule, ruleCovers } from "./rules.ts";

const PLACE: CommandLocation = { root: "/project" };

/** Deeper than shells within shells are followed. */
const NESTED = `${"env ".repeat(12)}ls`;

interface Given {
  readonly allow?: readonly string[];
  readonly granted?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly mode?: "default" | "plan" | "yolo";
  readonly place?: CommandLocation;
}

function judged(command: string, { mode = "default", place = PLACE, ...lists }: Given = {}) {
  const rules = (words: readonly string[] = []) => words.map((one) => parseRule(`run_shell_command(${one})`));
  const { allow, granted, ask, deny } = lists;
  const all = { allow: rules(allow), granted: rules(granted), ask: rules(ask), deny: rules(deny) };
  return judgeCommand({ command, mode, rules: all, place });
}

describe("a rule that allows", () => {
  it.each([
    ["git", "git log --output=x"],
    ["git", "git -C /etc log"],
    ["git", "git -c a=b log"],
    ["git -c", "git -c a=b log"],
    ["git -C", "git -C sub log"],
    ["git", "git config core.sshcommand core.x"],
    ["export", "export PATH=/tmp"],
    ["*", "git reset --hard"],
    ["*", "echo a > .env"],
    ["git", "git config core.pager x"],
    ["git commit", "git commit -F /etc/hosts"],
    ["git add", "git add /etc/hosts"],
    ["git clone", "git clone ext::sh"],
    ["git clone", "git clone -u x a"],
    ["git bisect run", "git bisect run ./x"],
    ["git submodule", "git submodule -q foreach ls"],
    ["tar", "tar xIf ./x a.tar"],
    ["bsdtar", "bsdtar xCf sub a.tar"],
    ["make", "make -f x"],
    ["make", "make CC=x"],
    ["make", "make 'x!=touch canary'"],
    ["make", "make 'x := $(shell touch canary)'"],
    ["make", "make a-b::=x"],
    ["make", "make -- CC=x"],
    ...[
      ["ag", "ag --pager=x a"],
      ["borg create", "borg create --rsh x a b"],
      ["restic", "restic --password-command=x backup a"],
      ["nodemon", "nodemon --exec x"],
      ["aria2c", "aria2c --on-download-complete=x a"],
      ["hg", "hg --config hooks.x=y status"],
      ["rpm", "rpm --eval '%(x)'"],
      ["fzf", "fzf --preview x"],
      ["apt", "apt -o A=b update"],
      ["gmake", "gmake --eval=x"],
    ],
    ["pytest", "pytest --basetemp=src"],
    ["kubectl get", "kubectl get pods -s https://example.org"],
    ["helm list", "helm list --kube-apiserver https://example.org"],
    ["gcc", "gcc -Wl,-plugin,./x.so a.c"],
    ["gcc", "gcc -Wl,@x a.c"],
    ["gcc", "gcc --prefix=./x a.c"],
    ["clang", "clang --ld-path=./x a.c"],
    ["clang", "clang -fpass-plugin=./x.so a.c"],
    ["npm", "npm --prefix=sub test"],
    ["npm", "npm --pre sub test"],
    ["npm", "npm -C sub test"],
    ["curl", "curl file:///etc/hosts"],
    ["curl https://a.org", "curl https://a.org https://b.org"],
    ["curl https://a.org", "curl https://a.org -s b.org/x"],
    ["curl https://a.org", "curl https://a.org -d x=y ada@b.org:80"],
    ["wget https://a.org", "wget https://a.org --header=a 10.0.0.1"],
    ["gh api", "gh api --hostname b.org /user"],
    ["curl", "curl https://example.org --data-urlencode x@/etc/hosts"],
    ["foo", "foo @/etc/hosts"],
    ["foo", "foo --x=@../y"],
    ["foo", "foo go-template-file=/etc/hosts"],
    ["foo", "foo a=/etc/hosts"],
    ["foo", "foo --x=/etc/hosts"],
    ["foo", "foo -x/etc/hosts"],
    ["export", "export 'a[$(x)]'"],
    ["export", "export PATH"],
    ["mapfile", "mapfile -C touch -c 1 a < b"],
    ["declare", "declare -n a"],
    ["local", "local -ai a"],
    ["hash", "hash -p evil ls"],
    ["enable", "enable -f evil a"],
    ["let", "read -r a < b; let a"],
    ["env", "env -S ls"],
    ["cat", "cat $x"],
    ["foo a", "foo *"],
    ["foo -l", "foo"],
  ])("P21 P23 allow %j does not cover %j", (rule, command) => {
    expect(judged(command, { allow: [rule] }).verdict).toBe("ask");
  });

  it.each([
    ["git commit", "git commit -m /etc/hosts"],
    ["git -C /etc", "git -C /etc status --porcelain"],
    ["git -c a=b", "git -c a=b log"],
    ["git clone", "git clone https://example.org/x"],
    ["make", "make -- -f"],
    ["make", "make all"],
    ["pnpm", "pnpm --filter a build"],
    ["gcc", "gcc -DDEBUG -O2 -Wl,--as-needed plugin.c -o plugin"],
    ["gcc", "gcc -Iplugins -DWITH_plugin -MFa.plugin.d -c a.c"],
    ["kubectl get", "kubectl get pods -ojson"],
    ["kubectl exec", "kubectl exec web-0 -- du -sh data"],
    ["npm", "npm install"],
    ["curl", "curl https://example.org/etc https://a.org"],
    ["curl https://a.org", "curl https://a.org -m 1.5 -H 'Referer: https://b.org/' -d x=https://c.org"],
    ["gh api", "gh api repos/a/b"],
    ["curl", "curl -sSfL -X POST -H a:b --max-time 5 -d x=y https://example.org/etc"],
    ["openssl x509", "openssl x509 -in a.pem -noout -text"],
    ["sqlite3", "sqlite3 -readonly -json a.db 'select 1'"],
    ["kubectl get", "kubectl get pods -n a -o wide"],
    ["docker ps", "docker ps -a"],
    ["npm install", "npm install @scope/name@1.2.3"],
    ["foo", "foo ada@example.org"],
    ["foo", "foo a=b"],
    ["export", "export A"],
    ["mapfile", "mapfile -t a < b"],
    ["declare", "declare -p A"],
    ["bash", "bash a.sh"],
    ["env", "env"],
    ["git bisect run npm test", "git bisect run npm test"],
    ["nohup", "nohup ls"],
    ["*", "ls > out"],
    ["*", "ls &"],
    ["*", "foo $x"],
  ])("P22 allow %j covers %j", (rule, command) => {
    expect(judged(command, { allow: [rule] })).toMatchObject({
      verdict: "allow",
      rule: `run_shell_command(${rule})`,
    });
  });

  it("P22 the one that excuses most decides, whatever their order, and is named", () => {
    for (const allow of [
      ["git log --output=x", "git"],
      ["git", "git log --output=x"],
    ])
      expect(judged("git log --output=x", { allow })).toMatchObject({
        verdict: "allow",
        rule: "run_shell_command(git log --output=x)",
      });
    expect(judged("ls", { allow: ["ls"] })).toMatchObject({ rule: "run_shell_command(ls)", reads: "wholly" });
    expect(judged("ls; foo", { allow: ["foo", "ls"] }).reason).toContain(" and ");
  });

  it.each([
    ...[
      "git reset --hard",
      "git reset --har",
      "git push -uf",
      "git push --force-with",
      "git push origin +main",
    ],
    ...["git push origin :main", "git checkout -- a", "git checkout a", "git checkout -q a", "git restore a"],
    ...[
      "git restore -S -W a",
      "git restore --worktree --staged a",
      "git clean --staged",
      "git stash drop",
      "git gc --prune=now",
    ],
    ...[
      "git branch -D a",
      "git tag -d a",
      "rm -r a",
      "rm -fR a",
      "rm --recursive a",
      "rm --rec a",
      "rm a -r",
    ],
  ])('P22 P23 an "always" never means what destroys: %s', (command) => {
    const granted = [command.startsWith("git") ? command.split(" ").slice(0, 2).join(" ") : "rm"];
    expect(judged(command, { granted }).verdict).toBe("ask");
    expect(judged(command, { allow: [command] }).verdict).toBe("allow");
  });

  it.each([
    ...[
      "git checkout -b a",
      "git checkout --orphan a",
      "git checkout -",
      "git restore --staged a",
      "git restore -S a",
    ],
    ...["git push origin main", "git reset a", "rm a", "rm -f a", "cp -r a b", "foo -r a"],
  ])('P22 an "always" covers %s', (command) => {
    const words = command.split(" ");
    expect(judged(command, { granted: [words.slice(0, words[0] === "git" ? 2 : 1).join(" ")] }).verdict).toBe(
      "allow",
    );
  });
});

describe("a rule that forbids", () => {
  it.each([
    ["git push --force", "git push origin --force"],
    ["git push --force", "git push --force=x"],
    ["git push --force", "git push --forc"],
    ["git push", "git -C sub push"],
    ["git push", "git --no-pager push"],
    ["git remote add", "git remote -v add x"],
    ["git remote add", "git remote add x y"],
    ["npm publish", "npm --registry x publish"],
    ["npm publish", "NPM.cmd publish"],
    ["rm -rf", "rm -fr a"],
    ["rm -rf", "rm -r -f a"],
    ["rm", "/bin/rm a"],
    ["rm", "rm.exe a"],
    ["rm", "timeout -s KILL 5 rm a"],
    ["rm", "timeout --signal KILL 5 rm a"],
    ["rm", "timeout --signal=KILL 5 rm a"],
    ["rm", "env -u A rm a"],
    ["rm", "env - rm a"],
    ["rm", "env -- rm a"],
    ["rm", "env A=b rm a"],
    ["rm", "nice --adjustment 5 rm a"],
    ["rm", "stdbuf -oL rm a"],
    ["rm", "bash +x -c 'rm a'"],
    ["rm", "bash -lc 'rm a'"],
    ["rm", "su -c 'rm a'"],
    ["rm", "sh <<< 'rm a'"],
    ["rm", "find . -exec rm {} +"],
    ["rm", "echo $(rm a)"],
    ["rm", "eval rm a"],
    ["rm", "trap 'rm a' EXIT"],
    ["rm", "trap -- rm EXIT"],
    ["rm", "alias 'ls=rm a'"],
    ["rm", "mapfile -tC rm a"],
    ["rm", "setarch x86_64 rm a"],
    ["rm", "setarch -R rm a"],
    ["rm", "setarch x86_64 -R rm a"],
    ["rm", "setpriv --reuid 0 --clear-groups rm a"],
    ["rm", "xvfb-run -as '-screen 0 800x600x24' rm a"],
    ["rm", "fakeroot -i a rm b"],
    ["rm", "pkexec --user nobody rm a"],
    ["rm", "for f in; do rm a; done"],
    ["rm", "cat <<EOF\n$(rm a)\nEOF"],
    ["git checkout --", "git checkout -- a"],
  ])("P23 deny %j forbids %j, also in yolo", (rule, command) => {
    expect(judged(command, { deny: [rule], mode: "yolo" }).verdict).toBe("deny");
  });

  it.each([
    ["git push --force", "git push --follow-tags"],
    ["git push --force", "git push -- --x"],
    ["git remote add", "git add remote"],
    ["npm publish", "npm run publish"],
    ["rm -rf", "rm -r a"],
    ["rm -rf", "rm --r --f"],
    ["rm", "bash a -c 'rm b'"],
    ["rm", "echo rm a"],
    ["rm", "trap - EXIT"],
    ["rm", "trap 'rmdir a' rm"],
    ["rm", "echo '$(rm a)'"],
    ["rm", "printf 'Use `npm test`.' > a.md"],
    ["rm", "text='Use `npm test`.'; echo \"$text\""],
    ["rm", "ls"],
    ["git push", "git"],
    ["git push --force", "git pull $x"],
    ["rm", "flock l grep -c rm"],
    ["rm a", "env rm"],
    ["rm", `export A="\${b[0]}$(date)"`],
    ["rm", "export A='[a] $b'"],
    ["rm", "i=0; for f in *; do i=$((i+1)); done; git commit -m 'Use `npm test`.'"],
    ["rm", "read x <<< 'a[$(date)]'; echo $((x))"],
    ["rm", 'source "$HOME/.cargo/env"; . ~/.nvm/nvm.sh'],
  ])("P22 deny %j says nothing of %j", (rule, command) => {
    expect(judged(command, { deny: [rule], mode: "yolo" }).verdict).toBe("allow");
  });

  it.each([
    ["rm", "$x a"],
    ["rm -rf", "rm $x a"],
    ["git push --force", "git push $x"],
    ["rm", 'bash -c "$x"'],
    ["rm", "ls | xargs $x"],
    ["rm a", "ls | xargs rm"],
    ["rm", "echo 'a"],
    ["rm", "env -S 'rm a'"],
    ["rm", "x='a[$(rm a)]'; echo $((x))"],
    ["rm", "let 'x=a[`rm a`]'"],
    ["rm", "declare -n r='a[$(rm a)]'; echo $r"],
    ["rm", 'typeset -n r="a[\\$(rm a)]"; r=1'],
    ["rm", "PS4='$(rm a)'; set -x"],
    ["rm", "export 'BASH_ENV=$(rm a)'"],
    ["rm", "[[ -v 'a[$(rm a)]' ]]"],
    ["rm", "read x <<< 'a[$(rm a)]'; echo $((x))"],
    ["rm", `x='$(rm a)'; echo "\${x@P}"`],
    ["rm", "x='a[$(rm a)]'; declare -n y=$x"],
    ["rm", "for x in 'a[`rm a`]'; do echo $((x)); done"],
    ["rm", String.raw`x=$'a[\x24(rm a)]'; [[ $x -eq 1 ]]`],
    ["rm", "x='a[$(rm a)]'; test -v $x"],
    ["rm", `x='a[$(rm a)]'; echo "\${y:x}"`],
    ["rm", `x='a[$(rm a)]'; echo "\${!x}"`],
    ["rm", "bash -c 'echo $(($1))' _ 'a[$(rm a)]'"],
    ["rm", "env 'PS4=$(rm a)' bash -xc ls"],
    ["rm", 'source "$x"'],
    ["rm", 'trap "$x" EXIT'],
    ["rm", "alias ls='rm a'"],
    ["rm", "sh < a"],
    ["rm", `sh -c "echo 'a"`],
    ["rm", NESTED],
    ["rm", `read x; ${"echo $(read x; ".repeat(200)}ls${")".repeat(200)}`],
  ])("P23 deny %j asks about %j, of which the words are known only when it runs", (rule, command) => {
    const { verdict, reason } = judged(command, { deny: [rule], mode: "yolo" });
    expect(verdict).toBe("ask");
    expect(reason).toContain("is known only when it runs");
  });

  it.each([
    ...["bash -O extglob -c 'rm a'", "bash -c -- 'rm a'", "bash -c -e 'rm a'", "bash --rcfile f -c 'rm a'"],
    ...["bash /dev/stdin <<< 'rm a'", "bash -s b <<< 'rm a'", "flock l -c 'rm a'", "ssh-agent rm a"],
    ...["/lib64/ld-linux-x86-64.so.2 /bin/rm a", "bash /proc/self/fd/0 <<< 'rm a'"],
    ...[". /dev/stdin <<< 'rm b'", "source <(echo rm b)", "bash <(echo rm b)", "echo rm b | bash -s a"],
  ])("P23 a deny rule does not let %j through: what a shell runs comes behind all its options", (command) => {
    expect(judged(command, { deny: ["rm"], mode: "yolo" }).verdict).not.toBe("allow");
  });

  it.each([
    ...[
      "rlwrap rm a",
      "torify rm a",
      "valgrind --tool=memcheck rm a",
      "gosu root rm a",
      "choom -n 9 -- rm a",
    ],
    ...[
      "cpulimit -l 50 rm a",
      "x86_64 rm a",
      "cross-env A=b rm a",
      "sudo A=b rm a",
      "ls | entr rm a",
      "fd -x rm",
    ],
    ...["npx -c 'rm a'", "sg root -c 'rm a'", "at now <<< 'rm a'", "capsh -- -c 'rm a'", "watch 'rm a'"],
    ...["parallel 'rm {}' ::: a", "hyperfine 'rm a'", "concurrently 'rm a' ls", "npm exec -- rm a"],
    ...["bundle exec rm a", "uv run rm a", "poetry run -q rm a", "docker exec -it a rm b", "pnpm dlx rm"],
  ])("P23 a deny rule does not let %j through: it is started by another program", (command) => {
    expect(judged(command, { deny: ["rm"], mode: "yolo" }).verdict).not.toBe("allow");
  });

  it.each([
    ...[
      "docker rm a",
      "npm run rm",
      "apt install rm",
      "mkdir -p a/rm",
      "docker exec a ls",
      "uv run pytest rm",
    ],
    ...[
      "kubectl exec pod -- ls",
      "hyperfine 'ls a'",
      "pnpm dlx create-a",
      "git commit -m 'exec rm'",
      "make rm",
    ],
  ])("P22 a deny rule says nothing of %j, which only names its program", (command) => {
    expect(judged(command, { deny: ["rm"], mode: "yolo" }).verdict).toBe("allow");
  });

  it("P23 a rule for another grammar counts wherever its program is named, and nothing runs unasked", () => {
    const place = { ...PLACE, isOtherShell: true };
    expect(judged("git push", { place, mode: "yolo", ask: ["git push"] }).verdict).toBe("ask");
    expect(judged("git push", { place, mode: "yolo" }).verdict).toBe("allow");
    expect(judged('"R"m a', { place, deny: ["rm"] }).verdict).toBe("deny");
    expect(judged("dir", { place, deny: ["rm"] }).verdict).toBe("ask");
    expect(judged("dir", { place, mode: "plan" }).verdict).toBe("deny");
  });

  it("P23 with a pattern says nothing of a call that names no subject", () => {
    const rule = parseRule("edit(src/**)");
    expect(ruleCovers(rule, { tool: "edit", subjects: [] }, "every")).toBe(false);
    expect(ruleCovers(rule, { tool: "edit", subjects: [] }, "some")).toBe(false);
    expect(() => parseRule("run_shell_command(a | b)")).toThrow("more than one plain command");
  });

  it("P14 plan mode names the part that it refuses", () => {
    expect(judged("ls; foo a", { mode: "plan", allow: ["foo"] })).toMatchObject({
      verdict: "deny",
      part: "foo a",
    });
    expect(judged("ls; ls /etc", { mode: "plan" })).toMatchObject({ verdict: "ask" });
    expect(judged("ls &", { mode: "plan" })).toMatchObject({ verdict: "deny" });
  });
});
