import { describe, expect, it } from "vitest";
import { judgeCommand } from "./command-policy.ts";
import { parseRule } from "./rules.ts";

/** In the mode that asks about nothing else. */
function judged(command: string, denied: string) {
  const rules = { allow: [], ask: [], deny: [parseRule(`run_shell_command(${denied})`)] };
  return judgeCommand({ command, mode: "yolo", rules, place: { root: "/project" } });
}

describe("a rule that forbids a program which another one starts", () => {
  it.each([
    ...[
      "git bisect run rm a",
      "git submodule foreach rm a",
      "git rebase -x 'rm a' main",
      "git difftool -x rm a",
    ],
    ...["git -c alias.x='!rm a' x", "git config core.pager 'rm a'", "GIT_SSH_COMMAND='rm a' git fetch"],
    ...["ssh h rm a", "ssh -p 22 -i k u@h 'cd b && rm a'", 'ssh "$h" sudo rm a', "sshpass -p x ssh h rm a"],
    ...[
      "docker run --rm -v b:/b -e A=b img rm a",
      "docker compose run web sh -c 'rm a'",
      "docker run $o img rm a",
    ],
    ...[
      "docker run --entrypoint=rm img a",
      "kubectl exec -it p -c c -- sh -c 'rm a'",
      "podman exec c env rm a",
    ],
    ...["systemd-run --user -p A=b rm a", "/usr/bin/tini -- rm a", "op run -- rm a", "bwrap --bind / / rm a"],
    ...["tar cf b --checkpoint-action=exec='rm a' c", "split --filter='rm a' b", "tmux new -d -s b 'rm a'"],
    ...["vim -c '!rm a' b", "gdb -batch -ex 'shell rm a'", "sqlite3 b '.shell rm a'", "socat - EXEC:'rm a'"],
    ...["tmux respawn-pane -k 'rm a'", "uv run --with b rm a", "mise x -- rm a", "cmake -E env A=b rm a"],
  ])(
    "P23 a deny rule does not let %j through: the program is named among the words of another",
    (command) => {
      expect(judged(command, "rm").verdict).toBe("ask");
    },
  );

  it.each([
    ["rm", `python3 -c 'import os; os.system("rm a")'`],
    ["rm", `python3 -c "import subprocess as s; s.run(['/bin/rm', 'a'])"`],
    ["git push", `node -e "require('child_process').spawnSync('git', ['push'])"`],
    ["git push", `perl -e 'exec "git -c a=b push origin"'`],
    ["rm", "ruby - <<'E'\n`rm a`\nE"],
    ["rm", `awk 'BEGIN { system("rm a") }'`],
    ["rm", `awk '{ print "rm " $1 | "sh" }' b`],
    ["rm", "sed '1e rm a' b"],
    ["rm -rf", `php -r 'shell_exec("rm -r -f a");'`],
  ])("P23 deny %j asks about %j, where a command of it begins in a text", (rule, command) => {
    const { verdict, reason } = judged(command, rule);
    expect(verdict).toBe("ask");
    expect(reason).toContain("may start what the rule deny run_shell_command(");
  });

  it.each([
    ...[
      "git commit -m 'rm the old file'",
      "git commit -am '(rm) a'",
      "git log --grep='rm a'",
      "git grep '(rm a'",
    ],
    ...[
      "gh pr create --title 'rm a' --body '(rm b)'",
      "echo 'rm a; rm b'",
      "printf 'rm a' > b",
      "rg '!rm a'",
    ],
    ...[
      "sed -i 's/rm a/b/' c",
      "awk '/rm a/' b",
      `python3 -c "x = {'rm': 1}; print(x['rm'])"`,
      "jest -t 'rm a'",
    ],
    ...[
      "tee b <<< 'rm a'",
      `python3 -c "print('cannot rm a')"`,
      "pytest -k 'rm and not b'",
      "cargo run -- rm a",
    ],
    ...[
      "npm run b -- rm",
      "git checkout -- rm",
      "ssh h ls",
      "docker run --rm -it -v b:/c img ls",
      'ssh "$h" ls',
    ],
    ...[
      "node -e 'console.log(1)'",
      "docker exec -it a psql -c 'select 1'",
      "uv run --with a pytest",
      "bash a 'rm b'",
    ],
    `docker run ${"-e A=b ".repeat(40)}img ls`,
  ])("P22 a deny rule says nothing of %j, which only speaks of its program", (command) => {
    expect(judged(command, "rm").verdict).toBe("allow");
  });

  it("P18 a long line of words that may all begin a command is judged at once", () => {
    const many = `ssh ${"-a ssh ".repeat(15_000)}`;
    expect(judged(many, "rm").verdict).toBe("ask");
    const text = `python3 -c '${"rm".repeat(45_000)}'`;
    expect(judged(text, "rm a").verdict).toBe("allow");
  });
});
