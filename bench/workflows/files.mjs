// Workflows on files: copying, archives, search and replace, settings, from READMEs and everyday shell handbooks.

/** @type {import("./run.mjs").Row[]} */
export const ROWS = [
  { name: "the example becomes .env", from: "dotenv's README", steps: ["cp .env.example .env", "cat .env"] },
  {
    name: "append to .env",
    from: "dotenv's README",
    before: "cp .env.example .env",
    steps: ["echo 'DEBUG=1' >> .env", "cat .env"],
  },
  {
    name: "sed -i in .env",
    from: "a guide to deployment",
    before: "cp .env.example .env",
    steps: ["sed -i 's/3000/4000/' .env", "cat .env"],
  },
  {
    name: "editor settings by heredoc",
    from: "prettier's README",
    steps: [
      "mkdir -p .vscode && cat > .vscode/settings.json <<'END'\n{ \"editor.formatOnSave\": true }\nEND",
      "cat .vscode/settings.json",
    ],
  },
  { name: ".npmrc", from: "npm's handbook", steps: ["echo 'save-exact=true' > .npmrc", "cat .npmrc"] },
  {
    name: "rm -r of a folder with editor settings",
    from: "a monorepo's README",
    before: "mkdir -p examples/demo/.vscode; echo 1 > examples/demo/.vscode/a; echo 2 > examples/demo/b",
    steps: ["rm -rf examples/demo", "ls examples"],
  },
  {
    name: "cp -r of a template",
    from: "a cookiecutter's README",
    before:
      "mkdir -p templates/app/.vscode; echo '{}' > templates/app/.vscode/settings.json; echo 1 > templates/app/a.js",
    steps: ["cp -r templates/app packages-app", "ls -A packages-app"],
  },
  {
    name: "mv of a folder with settings",
    from: "a monorepo's README",
    before: "mkdir -p old/.vscode; echo '{}' > old/.vscode/settings.json; echo 1 > old/a.js",
    steps: ["mv old new", "ls -A new"],
  },
  {
    name: "tar, there and back",
    from: "tar's handbook",
    steps: ["tar czf src.tar.gz src", "mkdir copy && tar xzf src.tar.gz -C copy", "diff -r src copy/src"],
    ignore: /\.gz$/,
  },
  {
    name: "tar with settings in it",
    from: "a release page",
    before: "mkdir -p a/.vscode; echo '{}' > a/.vscode/s.json; echo 1 > a/b; tar cf a.tar a; rm -r a",
    steps: ["tar xf a.tar", "ls -A a"],
    // It holds the time at which it was made.
    ignore: /\.tar$/,
  },
  {
    name: "zip and unzip",
    from: "a release page",
    needs: "unzip",
    before: "command -v zip >/dev/null && zip -qr src.zip src",
    steps: ["unzip -o src.zip -d out"],
    ignore: /\.zip$/,
  },
  {
    name: "gzip",
    from: "gzip's handbook",
    steps: ["gzip -k README.md", "zcat README.md.gz"],
    ignore: /\.gz$/,
  },
  {
    name: "sed -i over files",
    from: "a migration guide",
    steps: ["sed -i 's/sum/total/g' src/*.js", "grep -rn total src"],
  },
  {
    name: "grep | xargs sed",
    from: "a migration guide",
    steps: ["grep -rl sum src | xargs sed -i 's/sum/plus/g'", "cat src/sum.js"],
  },
  {
    name: "find -delete",
    from: "a Makefile",
    before: "touch a.tmp src/b.tmp",
    steps: ["find . -name '*.tmp' -delete", "ls src"],
  },
  {
    name: "find -exec chmod",
    from: "a Makefile",
    steps: ["find src -name '*.js' -exec chmod 755 {} +", "ls -l src | cut -c1-10"],
  },
  {
    name: "rename with a loop",
    from: "bash's handbook",
    steps: ['for f in src/*.js; do mv "$f" "src/$(basename "$f" .js).mjs"; done', "ls src"],
  },
  {
    name: "a new tree of folders",
    from: "a create-app README",
    steps: [
      "mkdir -p app/{models,views,controllers} && touch app/{models,views,controllers}/.gitkeep",
      "find app | sort",
    ],
  },
  {
    name: "a script made and run",
    from: "a README",
    steps: ["printf '#!/bin/sh\\necho hi\\n' > run.sh && chmod +x run.sh", "./run.sh"],
  },
  { name: "ln -s", from: "a README", steps: ["ln -s src/sum.js link.js", "readlink link.js", "cat link.js"] },
  { name: "tee", from: "a CI file", steps: ["npm run -s hello | tee hello.log", "cat hello.log"] },
  {
    name: "redirect both streams",
    from: "a CI file",
    steps: ["(echo out; echo err >&2) > all.log 2>&1", "cat all.log"],
  },
  {
    name: "sort | uniq -c",
    from: "a log guide",
    before: "printf 'b\\na\\nb\\n' > log.txt",
    steps: ["sort log.txt | uniq -c | sort -rn > counts.txt", "cat counts.txt"],
  },
  {
    name: "awk over csv",
    from: "awk's handbook",
    before: "printf 'a,1\\nb,2\\n' > d.csv",
    steps: ["awk -F, '{s += $2} END {print s}' d.csv"],
  },
  {
    name: "jq",
    from: "jq's manual",
    needs: "jq",
    steps: [
      "jq .scripts package.json",
      "jq '.version = \"2.0.0\"' package.json > p.json && mv p.json package.json",
    ],
  },
  {
    name: "diff and patch",
    from: "diffutils",
    before: "cp README.md new.md; echo more >> new.md",
    steps: ["diff -u README.md new.md > r.patch", "patch README.md < r.patch", "cat README.md"],
    ignore: /r\.patch$/,
  },
  {
    name: "checksums",
    from: "a release page",
    steps: ["sha256sum src/*.js > SHA256SUMS", "sha256sum -c SHA256SUMS"],
  },
  { name: "base64", from: "coreutils", steps: ["base64 README.md | base64 -d | cmp - README.md"] },
  {
    name: "mktemp",
    from: "a CI file",
    steps: ["t=$(mktemp) && echo 1 > $t && cat $t && rm $t", "d=$(mktemp -d); cp README.md $d/; ls $d"],
  },
  {
    name: "a file in /tmp for the next step",
    from: "a CI file",
    steps: ["echo kept > /tmp/step-output", "cat /tmp/step-output"],
    after: "rm -f /tmp/step-output",
  },
  { name: "set -e in a line", from: "a CI file", steps: ["set -euo pipefail; false; echo not here"] },
  { name: "a failing pipe", from: "a CI file", steps: ["set -o pipefail; cat missing.txt | sort"] },
  { name: "a signal", from: "bash's handbook", steps: ["sh -c 'kill -9 $$'", "sh -c 'exit 7'"] },
  {
    name: "split and cat",
    from: "coreutils",
    steps: ["split -l 1 README.md part-", "cat part-* | cmp - README.md"],
  },
  {
    name: "dd",
    from: "coreutils",
    steps: ["dd if=/dev/zero of=zero.bin bs=1024 count=4 2>/dev/null", "stat -c %s zero.bin"],
  },
  {
    name: "rsync in the project",
    from: "a guide to deployment",
    needs: "rsync",
    steps: ["rsync -a --delete src/ deploy/", "ls deploy"],
  },
  {
    name: "iconv",
    from: "a README",
    steps: ["printf 'caf\\303\\251\\n' > u.txt && iconv -f utf-8 -t latin1 u.txt > l.txt", "od -c l.txt"],
  },
  {
    name: "touch -d",
    from: "coreutils",
    steps: ["touch -d 2020-01-02 README.md", "stat -c %y README.md | cut -c1-10"],
  },
  {
    name: "umask and modes",
    from: "coreutils",
    steps: ["umask 077; echo 1 > secret.txt", "stat -c %a secret.txt", "chmod -R a+r ."],
  },
  {
    name: "env for one command",
    from: "express, README",
    steps: ["NODE_ENV=test node -p process.env.NODE_ENV", "env A=1 sh -c 'echo $A'"],
  },
  {
    name: "long output",
    from: "a CI file",
    steps: ["seq 1 2000 | tail -3", "seq 1 300 > n.txt; wc -l n.txt"],
  },
  {
    name: "date, uname, whoami",
    from: "a bug report's form",
    steps: ["date +%Y | wc -c", "uname -s", "whoami"],
  },
  {
    name: "versions",
    from: "a bug report's form",
    steps: ["node --version", "npm --version", "git --version", "python3 --version"],
  },
  {
    name: "a heredoc to a file",
    from: "bash's handbook",
    steps: ["cat > notes.md <<'END'\n# Notes\nEND", "cat notes.md"],
  },
  {
    name: "unlink and rmdir",
    from: "coreutils",
    before: "mkdir e; touch f",
    steps: ["rmdir e && unlink f", "ls"],
  },
  { name: "a FIFO", from: "bash's handbook", steps: ["mkfifo p; echo through > p & cat p; rm p"] },
  {
    name: "hooks of git by copy",
    from: "a contributing guide",
    before:
      "mkdir -p scripts; printf '#!/bin/sh\\nexit 0\\n' > scripts/pre-commit; chmod +x scripts/pre-commit",
    whole: true,
    steps: ["cp scripts/pre-commit .git/hooks/pre-commit", "ls .git/hooks | grep -v sample"],
  },
];
