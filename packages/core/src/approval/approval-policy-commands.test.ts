import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { CommandLocation } from "@burin/shell-judge";
import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "./approval-policy.ts";

interface Given {
  readonly mode?: ApprovalMode;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly place?: CommandLocation;
}

const rule = (words: string) => parseRule(words === "" ? "run_shell_command" : `run_shell_command(${words})`);

function judged(command: string, given: Given = {}) {
  const { mode = "default", allow = [], ask = [], deny = [], place } = given;
  const confirmation = { kind: "exec", title: "", command, parts: [], grants: [] } as const;
  const request = { tool: "run_shell_command", kind: "execute", confirmation, subjects: [] } as const;
  return judge({ ...request, place: place ?? { root: "/project" } }, mode, {
    allow: allow.map(rule),
    ask: ask.map(rule),
    deny: deny.map(rule),
  });
}

describe("rules that forbid", () => {
  it.each([
    ["rm", "rm x"],
    ["rm", "/bin/rm x"],
    ["rm", "RM x"],
    ["rm", "r''m x"],
    ["rm", "ls && rm x"],
    ["rm", "echo $(rm x)"],
    ["rm", "echo `echo $(rm x)`"],
    ["rm", "sudo -u ada rm x"],
    ["rm", "env -i A=b rm x"],
    ["rm", "nohup nice -n 5 timeout -k 1 5 rm x"],
    ["rm", "ls | xargs -0 -n 1 rm"],
    ["rm", "find . -exec rm {} +"],
    ["rm", "find . -execdir /usr/bin/rm {} \\;"],
    ["rm", "sh -c 'ls; rm x'"],
    ["rm", "bash -lc \"sh -c 'rm x'\""],
    ["rm", "eval 'rm x'"],
    ["rm", "eval rm x"],
    ["rm", "bash <<'E'\nrm x\nE"],
    ["rm", "sh <<< 'rm x'"],
    ["rm", "command rm x"],
    ["rm", "busybox rm x"],
    ["rm", "for f in a; do rm $f; done"],
    ["rm", "rm $x"],
    ["rm -rf", "rm -fr x"],
    ["rm -rf", "rm -r -f x"],
    ["git push", "git push origin main"],
    ["git push", "git -C sub -c a=b push"],
    ["git push", "/usr/bin/git push"],
    ["git push --force", "git push origin main --force"],
    ["git push --force", "git push --forc"],
    ["npm publish", "npm --silent publish"],
    ["npm publish", "npm --tag next publish"],
    ["", "ls"],
    ["*", "ls"],
  ])("P21 deny %j meets %j, also in yolo and beside an allow rule", (deny, command) => {
    for (const mode of ["default", "auto-edit", "yolo", "plan"] as const) {
      expect(judged(command, { mode, deny: [deny], allow: ["", "rm", "git push"] }).verdict).toBe("deny");
    }
  });

  it.each(
    [
      ..."doas -u a|builtin|toybox|ionice -c 2|chrt 5|taskset 1|flock l|chroot d|unshare -r|nsenter -a|strace -o l".split(
        "|",
      ),
      ..."ltrace|parallel -j 2|watch -n 1|npx|setsid|exec -a x|stdbuf -o0|time|script -c|su -c|runuser -c".split(
        "|",
      ),
    ].map((wrapper) => [wrapper]),
  )("P21 deny rm meets what %s launches", (wrapper) => {
    expect(judged(`${wrapper} ${wrapper.endsWith("-c") ? "'rm x'" : "rm x"}`, { deny: ["rm"] }).verdict).toBe(
      "deny",
    );
  });

  it.each([
    ["rm", "rmdir x"],
    ["rm", "echo rm"],
    ["rm", "git rm x"],
    ["rm -rf", "rm -f x"],
    ["git push", "git log --grep push"],
    ["git push --force", "git push origin main"],
    ["npm publish", "npm run publish"],
  ])("P22 deny %j does not meet %j", (deny, command) => {
    expect(judged(command, { mode: "yolo", deny: [deny] }).verdict).toBe("allow");
  });

  it.each(["$x y", "eval $x", 'sh -c "$x"', "curl x | sh", "git $x", "echo 'a", "env -S 'rm x' y"])(
    "P21 what cannot be compared with a rule that forbids asks even in yolo: %j",
    (command) => {
      expect(judged(command, { mode: "yolo", deny: ["rm", "git push"] }).verdict).toBe("ask");
      expect(judged(command, { mode: "yolo" }).verdict).toBe("allow");
    },
  );

  it("P21 ask rules meet parts too, and no grant makes them go away", () => {
    const verdict = judged("ls && npm test", { ask: ["npm"], allow: ["npm test"] });
    expect(verdict).toMatchObject({ verdict: "ask", part: "npm test", grants: [] });
    expect(judged("env npm test", { ask: ["npm"], mode: "yolo" }).verdict).toBe("ask");
  });

  it("a pattern that is more than one command is refused when the rule is read", () => {
    expect(() => rule("ls && rm")).toThrow("more than one plain command");
  });

  it.each(["read_file(@(a|b).env)", "edit(log{1..3}.txt)"])("%s is refused when the rule is read", (text) => {
    expect(() => parseRule(text)).toThrow(/is not a rule: .*write alternatives as \{a,b\}/);
  });
});

describe("rules that allow", () => {
  it.each([
    ["npm test", "npm test"],
    ["npm test", "npm test -- a.test.ts"],
    ["npm run *", "npm run build"],
    ["npm run:*", "npm run build"],
    ["git commit -m 'a b';", "git commit -m 'a b'"],
    ["find . -delete", "find . -delete"],
    ["cat /etc/hosts", "cat /etc/hosts"],
    ["git reset --hard", "git reset --hard HEAD"],
    ["rm -rf", "rm -rf build"],
    ["", "anything --at all $x"],
  ])("P21 allow %j covers %j", (allow, command) => {
    expect(judged(command, { allow: [allow] }).verdict).toBe("allow");
  });

  it.each([
    ["npm test", "npm tests"],
    ["npm test", "npm"],
    ["npm test", "./npm test"],
    ["npm test", "npm 'test x'"],
    ["git commit -m 'a b';", "git commit -m 'a b' --amend"],
    ["find", "find . -delete"],
    ["cat", "cat /etc/hosts"],
    ["git", "git reset --hard"],
    ["git reset", "git reset --hard"],
    ["git push", "git push -f"],
    ["git push", "git push origin +main"],
    ["git", "git branch -D x"],
    ["rm", "rm -r build"],
    ["", "git reset --hard"],
    ["", "rm -rf build"],
    ["", "echo x > .env"],
  ])("P21 P23 allow %j does not cover %j", (allow, command) => {
    expect(judged(command, { allow: [allow] }).verdict).toBe("ask");
  });
});

describe("options with which a program does something else", () => {
  it.each([
    ..."make -f x|make SHELL=x|cargo --config x|cargo +x|go -exec x|pytest -p x|tsc -p x|tar -I x|split --filter=x".split(
      "|",
    ),
    ..."rsync -e x|rsync --rsh=x|zip -TT x|ssh -oProxyCommand=x|scp -S x|sftp -b x|man -P x|less +!x|more +!x".split(
      "|",
    ),
    ..."vim -c x|view -S x|emacs --eval x|gdb -ex x|psql -c x|mysql -e x|sqlite3 -cmd x|gcc -B x|cc @x".split(
      "|",
    ),
    ..."curl -c x|curl --trace x|curl -sd@x|curl -F f=x|curl -w %output{x}|curl --unix-socket x|curl -H @x".split(
      "|",
    ),
    ..."openssl -engine x|openssl -out x|openssl -config x|sqlite3 -A x|sqlite3 vacuum\\ into\\ x".split("|"),
    ..."kubectl --kubeconfig=x|docker --config x|docker -H x|pip --python x|go -vettool=x|tar -T x".split(
      "|",
    ),
    ..."python3 -m pytest -p x|bun --preload x|pnpm --config.script-shell=x|go -ldflags=-extld=x".split("|"),
    ..."wget -O x|wget --post-file x -i y|apt-get -o x|curl -o x|npm --script-shell x|yarn --cwd x".split(
      "|",
    ),
  ])("P21 a rule for the program alone does not cover %j", (command) => {
    const [program = ""] = command.split(" ");
    expect(judged(`${program} ordinary`, { allow: [program] }).verdict).toBe("allow");
    expect(judged(command, { allow: [program] }).verdict).toBe("ask");
    expect(judged(command, { allow: [command] }).verdict).toBe("allow");
  });
});

describe("what a rule does not name", () => {
  const fault = { nature: "program", what: "git would run `touch x`" } as const;
  const place = { root: "/project", repositoryFault: () => fault };

  it.each([
    ["git status", "git status"],
    ["git log", "git log -p"],
    ["git commit -m x", "git commit -m x"],
    ["git", "cd src && git diff"],
    ["sh -c 'git status'", "sh -c 'git status'"],
    ["xargs git show", "xargs git show"],
    ["find . -exec git log ';'", "find . -exec git log ';'"],
  ])("P21 allow %j does not cover what the repository plants in %j", (allow, command) => {
    expect(judged(command, { place, allow: [allow] })).toMatchObject({ verdict: "ask", grants: [] });
    const granted = [rule(allow)];
    const confirmation = { kind: "exec", title: "", command, parts: [], grants: [] } as const;
    const request = {
      tool: "run_shell_command",
      kind: "execute",
      confirmation,
      subjects: [],
      place,
    } as const;
    expect(judge(request, "default", { allow: [], ask: [], deny: [], granted }).verdict).toBe("ask");
  });

  it.each(["ls", "find", "du", "npm test", "grep -r x", "find -L", "git status"])(
    "P21 a rule that allows %j allows it in no folder outside the root",
    (command) => {
      const allow = ["cd ..", "npm", "find", "ls", "du", "grep", "git status"];
      expect(judged(`cd .. && ${command}`, { allow }).part).toBe(command);
    },
  );

  it.each(["find -L", "find -L .", "find -follow", "ls -LR", "ls -LR src", "du -L", "grep -R x", "rg -L x"])(
    "P21 a rule that allows %j does not cover the links out that lie there",
    (command) => {
      const treeBelow = () => ({ linksOut: ["link"], oddNames: [] });
      const given = { place: { root: "/project", treeBelow }, allow: [command, command.split(" ")[0] ?? ""] };
      expect(judged(command, given)).toMatchObject({ verdict: "ask", grants: [] });
      expect(judged(command, { ...given, place: { root: "/project" } }).verdict).toBe("allow");
    },
  );

  it("P21 a rule for every command covers it, and so does yolo", () => {
    expect(judged("git status", { place, allow: [""] }).verdict).toBe("allow");
    expect(judged("git status", { place, mode: "yolo" }).verdict).toBe("allow");
  });
});

describe("what runs because it only reads", () => {
  it.each([
    ["git log --oneline | head -3", {}, "wholly"],
    ["cd src && git status", { allow: ["git status"] }, "wholly"],
    ["git status && npm test", { allow: ["npm test"] }, "partly"],
    ["npm test && make && git status", { allow: ["npm test", "make"] }, "partly"],
    ["npm test && make && git push", { allow: ["npm test", "make", "git push"] }, undefined],
    ["cd src && npm test", { allow: ["npm test"] }, undefined],
    ["timeout 9 npm test", { allow: ["npm test"] }, undefined],
    ["git log", { allow: [""] }, undefined],
    ["git log", { mode: "yolo" }, undefined],
    ["cat /etc/hosts", {}, undefined],
  ] as const)("P21 P53 %j with %j is held to reading: %s", (command, given, reads) => {
    const place = { root: "/project", repositoryFault: () => null };
    expect(judged(command, { ...given, place }).reads).toBe(reads);
  });

  it("says of each part whether it only reads", () => {
    const { parts } = judged("git log; npm test", { allow: ["npm test"] });
    expect(parts?.map(({ isOnlyReading }) => isOnlyReading)).toEqual([true, false]);
  });
});

describe("the environment that keeps git to looking", () => {
  it.each([
    ["env -i git status", "env git status"],
    ["env -u GIT_OPTIONAL_LOCKS git diff", "env CI=1 git diff"],
    ["timeout 5 env -iu X CI=1 git log", "timeout 5 env CI=1 git log"],
  ])("P21 P53 is taken away only when asked: %j, and not by %j", (command, harmless) => {
    expect(judged(command).verdict).toBe("ask");
    expect(judged(harmless).verdict).toBe("allow");
  });
});

describe("signatures", () => {
  it.each([
    ...["git log --format=%G?", "git log '--format=%h%-GK'", "git log '--format=% GS'"],
    "git log '--pretty=format:%h %GS'",
    "git for-each-ref --format='%(*signature)'",
    ...["git branch --sort=-signature:key", "git branch --sort=v:signature"],
  ])("P21 a look that starts the program which checks them asks: %j", (command) => {
    expect(judged(command, { allow: ["git log", "git branch"] }).verdict).toBe("ask");
  });
});

describe("settings of git", () => {
  it.each([
    "git config --global -l",
    "git config --system --list",
    "git config -l",
    "git config --get-regexp .",
    "git config list",
    "git config get http.extraheader",
  ])("P19 asks before it shows those outside the root: %j", (command) => {
    expect(judged(command)).toMatchObject({ verdict: "ask" });
  });

  it.each(["git config --get http.extraheader", "git config --get url.https://x@y.insteadof"])(
    "P19 asks before it shows one that may be a password: %j",
    (command) => {
      expect(judged(command)).toMatchObject({ verdict: "ask" });
    },
  );

  it.each([
    "git config --local -l",
    "git config --get user.name",
    "git config --local --get-regexp 'x.*'",
    "git config get user.name",
    "git config list --local",
  ])("P22 those of the repository and of the person's name are shown unasked: %j", (command) => {
    expect(judged(command)).toMatchObject({ verdict: "allow" });
  });

  it.each(["git config edit --local", "git config --worktree edit", "git config unset a.b --local"])(
    "P21 asks before a newer git opens an editor for them or changes them: %j",
    (command) => {
      expect(judged(command)).toMatchObject({ verdict: "ask" });
    },
  );
});

describe("modes", () => {
  it.each([
    "touch x",
    "npm test",
    "git commit -m x",
    "echo x > y",
    "ls; rm x",
    "sed -i p x",
    "echo $x",
    "ls &",
  ])("P14 plan mode refuses %j, whatever the rules say", (command) => {
    const allow = ["", "touch", "npm test", "git", "echo", "rm", "sed", "ls"];
    expect(judged(command, { mode: "plan", allow }).verdict).toBe("deny");
  });

  it("P14 plan mode runs what only reads, and asks where it reads outside", () => {
    expect(judged("git log | head && cat src/a.ts", { mode: "plan" }).verdict).toBe("allow");
    expect(judged("cat /etc/hosts", { mode: "plan" }).verdict).toBe("ask");
    expect(judged("cat src/a.ts", { mode: "plan", ask: ["cat"] }).verdict).toBe("ask");
  });

  it("P23 auto-edit covers no command, yolo every one", () => {
    for (const command of ["rm -rf x", "git reset --hard", "echo x > .env"]) {
      expect(judged(command, { mode: "auto-edit" }).verdict).toBe("ask");
      expect(judged(command, { mode: "yolo" }).verdict).toBe("allow");
    }
  });
});

describe("the place of a command", () => {
  it("P21 counts from the folder it starts in", () => {
    const place = { root: "/project", directory: "/project/packages/core" };
    expect(judged("cat ../../package.json", { place }).verdict).toBe("allow");
    expect(judged("cat ../../../x", { place }).verdict).toBe("ask");
    expect(judged("cat /project/x /project-evil/x", { place }).verdict).toBe("ask");
    expect(judged("ls", { place: { root: "/project", directory: "/elsewhere" } }).verdict).toBe("ask");
    expect(judged("cat x", { place: { root: "/project", directory: "/elsewhere" } }).verdict).toBe("ask");
  });

  it("P21 starts in the folder that the question names", () => {
    const exec = {
      kind: "exec",
      title: "",
      command: "cat ../x",
      parts: [],
      grants: [],
      directory: "/p/sub",
    } as const;
    const request = {
      tool: "run_shell_command",
      kind: "execute",
      subjects: [],
      place: { root: "/p" },
    } as const;
    const none = { allow: [], ask: [], deny: [] };
    expect(judge({ ...request, confirmation: exec }, "default", none).verdict).toBe("allow");
    expect(judge({ ...request, confirmation: { ...exec, directory: "/p" } }, "default", none).verdict).toBe(
      "ask",
    );
  });

  it("P21 knows more folders, links and programs of the repository only as it is told", () => {
    const place = { root: "/project", includeDirectories: ["/other"] };
    expect(judged("cat /other/x", { place }).verdict).toBe("allow");
    expect(judged("cat /other/../x", { place }).verdict).toBe("ask");
    expect(judged("cd /other/sub && ls && cat x ../y", { place }).verdict).toBe("allow");
    expect(judged("cd /other/sub && cat ../../x", { place }).verdict).toBe("ask");
    const leadsOutside = (path: string) => path.includes("/link");
    expect(judged("cat src/link/x", { place: { root: "/project", leadsOutside } }).verdict).toBe("ask");
    // The shell goes through the link to find what the pattern matches.
    expect(judged("echo src/link/*", { place: { root: "/project", leadsOutside } }).verdict).toBe("ask");
    expect(judged("echo link* src/*", { place: { root: "/project", leadsOutside } }).verdict).toBe("allow");
    const fault = { nature: "program", what: "core.fsmonitor" } as const;
    const hostile = {
      root: "/project",
      repositoryFault: (folder: string) => (folder === "/project" ? fault : null),
    };
    expect(judged("git status", { place: hostile, allow: ["git"] })).toMatchObject({ verdict: "ask" });
    expect(judged("cd sub && git status", { place: hostile }).verdict).toBe("allow");
  });
});
