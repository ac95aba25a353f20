import { describe, expect, it } from "vitest";
import { judgeCommand } from "./command-policy.ts";
import { parseRule } from "./rules.ts";

function judged(command: string, ...denied: readonly string[]) {
  const deny = denied.map((one) => parseRule(`run_shell_command(${one})`));
  const place = { root: "/project" };
  return judgeCommand({ command, mode: "yolo", rules: { allow: [], ask: [], deny }, place }).verdict;
}

describe("a rule that forbids a program which others start", () => {
  it.each([
    ...[
      "sed 's/.*/rm a/e' b",
      "sed '1e rm a' b",
      "sed -n 's|x|rm a|e' b",
      "echo rm a | sed e",
      "rg --pre rm a",
    ],
    ...[
      "rg --pre=rm a",
      "rg --hostname-bin rm a",
      "sort --compress-program=rm a",
      "sort --compress-prog 'rm a' b",
    ],
    ...["git grep -O'rm a' b", "git grep -Orm a", "git -c gpg.program=rm commit -S", "git clone 'ext::rm a'"],
    ...["tar -xf a -I rm", "tar --use-compress-program rm -xf a", "rsync --rsh rm a b:c", "scp -S rm a b:"],
    ...[
      "go test -exec rm ./...",
      "go vet -vettool=/bin/rm .",
      "gcc -wrapper rm,a b.c",
      "wget --use-askpass=/bin/rm a",
    ],
    ...["wget -e use_askpass=rm a", "man -H'rm a' ls", "ssh -o 'ProxyCommand rm a' b"],
    "env EDITOR=rm visudo",
    ...["env EDITOR='rm a' visudo", "EDITOR=rm visudo", "GIT_SSH=/bin/rm git fetch", "RUSTC=rm cargo build"],
    ...["yt-dlp --exec rm a", "just -c rm a", "nc -e /bin/rm a 1", "aria2c --on-download-complete=/bin/rm a"],
    ...["echo 'system(\"rm a\")' | perl", "echo '* * * * * rm a' | crontab -", "dc <<< '!rm a'", "sem rm a"],
  ])("P23 a deny rule does not let %j through: an option, a script or a variable names it", (command) => {
    expect(judged(command, "rm")).toBe("ask");
  });

  it.each([
    ...["find . -name '*.log' -delete", "find a -type f -delete", "unlink a", "shred -u a", "cmake -E rm a"],
    ...["perl -e 'unlink \"a\"'", "python3 -c 'import os; os.remove(\"a\")'", "ruby -e 'File.delete(\"a\")'"],
    ...[
      "node -e 'fs.rmSync(\"a\")'",
      "php -r 'unlink(\"a\");'",
      "npx rimraf a",
      "python3 <<< 'shutil.rmtree(\"a\")'",
    ],
  ])("P23 a rule that denies rm asks about %j, which does the same by itself", (command) => {
    for (const rule of ["rm", "rm -rf"]) expect(judged(command, rule)).toBe("ask");
    expect(judged(command, "rm /etc", "mv")).toBe("allow");
  });

  it.each([
    ...[
      "sed -i 's/rm a/mv a/' b",
      "sed -n 's/rm a/x/p' b",
      "rg 'rm a' .",
      "sort -u rm",
      "find . -name rm -print",
    ],
    ...[
      "awk '/rm a/ {print $1}' b",
      "git log --grep 'rm a'",
      "git grep 'rm a'",
      "tar -czf rm.tgz rm",
      "tsc -p src/rm",
    ],
    ...[
      "gh pr create --body 'use (rm a) there'",
      "env=rm make",
      "cp -r rm b",
      "tee a.sh <<< 'rm b'",
      "curl -o rm.txt a",
    ],
  ])("P22 a deny rule says nothing of %j, in which its program is only text or a file", (command) => {
    expect(judged(command, "rm")).toBe("allow");
  });
});

describe("a rule that forbids words which a program takes in several forms", () => {
  it.each([
    ["git push --force", "git push -f"],
    ["git push --force", "git push -uf origin main"],
    ["git push --force", "git push origin +main"],
    ["git push -f", "git push --force"],
    ["rm -rf", "rm --recursive --force a"],
    ["rm -rf", "rm --rec -f a"],
    ["rm -rf", "rm -Rf a"],
    ["rm --recursive", "rm -r a"],
    ["npm publish", "npm pub --tag a"],
    ["npm install", "npm i a"],
    ["npm install", "npm -g add a"],
  ])("P23 deny %j forbids %j", (rule, command) => {
    expect(judged(command, rule)).toBe("deny");
  });

  it.each([
    ["git push", "git -c alias.p=push p"],
    ["git push --force", "git -c 'alias.p=push -f' p"],
    ["git push", "git config alias.p push"],
    ["rm", "git -c 'alias.p=!rm a' p"],
  ])("P23 deny %j asks about %j, an alias", (rule, command) => {
    expect(judged(command, rule)).toBe("ask");
  });

  it.each(["git p", "git -C a p origin", "env git p", "bash -c 'git p'"])(
    "P21 P23 deny git push asks about %j, whose alias may stand in settings of git",
    (command) => {
      expect(judged(command, "git push")).toBe("ask");
    },
  );

  it.each([
    ["git push", "git bisect log"],
    ["git push", "git"],
    ["git push", "git --version"],
    ["git push", "echo git p"],
    ["git push --force", "git push --force-with-lease"],
    ["git push --force", "git push --follow-tags"],
    ["git push", "git config alias.p pull"],
    ["rm -rf", "rm --force a"],
    ["rm -rf", "rm -R a"],
    ["npm run build", "npm run b"],
    ["npm install", "npm run i"],
    ["kubectl delete --force", "kubectl delete -f a.yaml"],
    ["yarn install", "yarn i"],
  ])("P22 deny %j says nothing of %j", (rule, command) => {
    expect(judged(command, rule)).toBe("allow");
  });
});
