// Workflows of building, testing, installing and serving, from READMEs, Makefiles and CI files of public projects.

const MAKE = `cat > Makefile <<'END'
CC ?= cc
all: hello
hello: main.o greet.o
	$(CC) -o $@ $^
%.o: %.c
	$(CC) -c -o $@ $<
check: hello
	./hello | grep -q Hello
install: hello
	install -d $(DESTDIR)/bin && install -m 755 hello $(DESTDIR)/bin
clean:
	rm -f *.o hello
.PHONY: all check install clean
END
printf '#include <stdio.h>\\nvoid greet(void);\\nint main(void){greet();return 0;}\\n' > main.c
printf '#include <stdio.h>\\nvoid greet(void){puts("Hello");}\\n' > greet.c`;
const PYTHON = `mkdir -p pkg tests; touch pkg/__init__.py tests/__init__.py; printf 'def double(x):\\n    return 2 * x\\n' > pkg/core.py
printf 'import unittest\\nfrom pkg.core import double\\n\\nclass Core(unittest.TestCase):\\n    def test_double(self):\\n        self.assertEqual(double(2), 4)\\n' > tests/test_core.py
printf '[metadata]\\nname = pkg\\nversion = 1\\n[options]\\npackages = pkg\\n' > setup.cfg; printf 'from setuptools import setup\\nsetup()\\n' > setup.py`;
const SERVER = `printf "require('http').createServer((q, r) => r.end('hello ' + q.url)).listen(process.env.PORT || 0, '127.0.0.1');\\n" > server.js`;
const SCAFFOLD = `cat > scaffold.mjs <<'END'
import { mkdirSync, writeFileSync } from "node:fs";
mkdirSync("app/.vscode", { recursive: true });
writeFileSync("app/.vscode/extensions.json", "{}\\n");
writeFileSync("app/.env", "PORT=1\\n");
writeFileSync("app/index.js", "export {};\\n");
END`;

/** @type {import("./run.mjs").Row[]} */
export const ROWS = [
  { name: "npm test", from: "express, ci.yml", steps: ["npm test"] },
  {
    name: "npm run build and look",
    from: "express, ci.yml",
    steps: ["npm run build", "ls dist", "cat dist/all.js"],
  },
  {
    name: "npm run lint, which fails",
    from: "express, ci.yml",
    before: "echo 'bad' > src/bad.txt",
    steps: ["npm run lint"],
  },
  { name: "npm run with arguments", from: "npm's handbook", steps: ["npm run hello -- --name you"] },
  { name: "npm ls", from: "express, ci.yml", steps: ["npm ls", "npm -s ls --depth=0"] },
  { name: "npm run lists scripts", from: "npm's handbook", steps: ["npm run"] },
  { name: "npm init -y", from: "npm's handbook", base: "folder", steps: ["npm init -y", "cat package.json"] },
  { name: "npm pkg set", from: "npm's handbook", steps: ["npm pkg set type=module", "npm pkg get name"] },
  { name: "npm version", from: "npm's handbook", steps: ["npm version patch --no-git-tag-version"] },
  {
    name: "npm version with a tag",
    from: "npm's handbook",
    whole: true,
    steps: ["npm version minor", "git tag"],
  },
  { name: "npm pack", from: "npm's handbook", steps: ["npm pack", "tar tzf shop-1.0.0.tgz"] },
  {
    name: "npm install of a local package",
    from: "npm's handbook",
    before: `mkdir -p lib/left; printf '{"name":"left","version":"1.0.0","main":"i.js"}' > lib/left/package.json; echo 'module.exports = 1' > lib/left/i.js`,
    steps: ["npm install --no-audit --no-fund ./lib/left", "node -p \"require('left')\""],
  },
  {
    name: "npm install from the registry",
    from: "express, ci.yml",
    network: true,
    steps: [
      "npm install --no-audit --no-fund --save-dev is-number@7.0.0",
      "node -p \"require('is-number')(5)\"",
      "npm rm --silent --no-audit --no-fund --save-dev is-number",
    ],
  },
  {
    name: "npm ci",
    from: "express, ci.yml",
    network: true,
    before: `npm install --no-audit --no-fund --package-lock-only is-odd@3.0.1 >/dev/null`,
    steps: ["npm ci --no-audit --no-fund", "ls node_modules"],
  },
  {
    name: "npx of a local program",
    from: "npm's handbook",
    before: `mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho tool "$@"\\n' > node_modules/.bin/tool; chmod +x node_modules/.bin/tool`,
    steps: ["npx tool a b"],
  },
  { name: "node --test with a pattern", from: "node's handbook", steps: ["node --test test/"] },
  {
    name: "node -e",
    from: "node's handbook",
    steps: ["node -e \"console.log(require('./package.json').name)\""],
  },
  {
    name: "node -p to list dependencies",
    from: "express, ci.yml",
    steps: [
      "node -pe 'Object.keys(require(\"./package\").scripts).join(\"\\n\")' | grep -E '^(test|lint)' | sort -r",
    ],
  },
  {
    name: "collect coverage reports",
    from: "express, ci.yml",
    before: "mkdir -p coverage; echo SF:a > coverage/lcov.info",
    steps: [
      "cp coverage/lcov.info coverage/node.lcov",
      "mv ./coverage ./node && mkdir ./coverage && mv ./node ./coverage/node",
      "find ./coverage -name lcov.info -exec printf '-a %q\\n' {} \\;",
    ],
  },
  { name: "make", from: "requests, Makefile", before: MAKE, steps: ["make", "make check", "make clean"] },
  { name: "make -j", from: "jq, ci.yml", before: MAKE, steps: ["make -j4", "strip hello", "./hello"] },
  { name: "make -n", from: "jq, ci.yml", before: MAKE, steps: ["make -n"] },
  {
    name: "make install into a folder",
    from: "jq, README",
    before: MAKE,
    steps: ["make install DESTDIR=$PWD/out", "ls out/bin"],
  },
  {
    name: "a configure script",
    from: "jq, ci.yml",
    before: `${MAKE}; printf '#!/bin/sh\\nset -e\\necho "checking for cc... yes"\\nprintf "prefix=%%s\\\\n" "\${1#--prefix=}" > config.mk\\n' > configure; chmod +x configure`,
    steps: ["./configure --prefix=/usr/local", "cat config.mk"],
  },
  {
    name: "gcc by hand",
    from: "a README of a C library",
    before: MAKE,
    steps: ["gcc -Wall -o hello main.c greet.c && ./hello"],
  },
  {
    name: "cmake out of the source",
    from: "libcbor, README",
    before: `${MAKE}; printf 'cmake_minimum_required(VERSION 3.10)\\nproject(hello C)\\nadd_executable(hello main.c greet.c)\\n' > CMakeLists.txt`,
    ignore: /^build\/(?!hello$)/,
    needs: "cmake",
    steps: ["cmake -S . -B build", "cmake --build build", "./build/hello"],
  },
  {
    name: "make dist",
    from: "jq, ci.yml",
    before: MAKE,
    steps: [
      "mkdir hello-1.0 && cp *.c Makefile hello-1.0",
      "tar cf hello-1.0.tar hello-1.0 && rm -r hello-1.0",
      "tar tf hello-1.0.tar",
    ],
    ignore: /\.tar$/,
  },
  {
    name: "python -m unittest",
    from: "flask, CONTRIBUTING",
    before: PYTHON,
    ignore: /__pycache__/,
    steps: ["python3 -m unittest", "python3 -m unittest tests.test_core -v"],
  },
  {
    name: "a virtual environment",
    from: "flask, CONTRIBUTING",
    before: PYTHON,
    ignore: /^\.venv\/|__pycache__/,
    steps: [
      "python3 -m venv --without-pip .venv",
      ". .venv/bin/activate && python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
    ],
  },
  { name: "pip list", from: "flask, CONTRIBUTING", needs: "pip", steps: ["pip list"] },
  {
    name: "python -c",
    from: "python's tutorial",
    before: PYTHON,
    ignore: /__pycache__/,
    steps: ["python3 -c 'from pkg.core import double; print(double(21))'"],
  },
  { name: "python -m json.tool", from: "python's handbook", steps: ["python3 -m json.tool package.json"] },
  {
    name: "a script that writes",
    from: "python's tutorial",
    steps: [
      "python3 - <<'END'\nimport pathlib\npathlib.Path('out.txt').write_text('made\\n')\nEND",
      "cat out.txt",
    ],
  },
  {
    name: "py_compile",
    from: "python's handbook",
    before: PYTHON,
    ignore: /__pycache__/,
    steps: ["python3 -m py_compile pkg/core.py"],
  },
  {
    name: "cargo new",
    from: "cargo's book",
    base: "folder",
    ignore: /^hello\/\.git\//,
    needs: "cargo --version",
    steps: ["cargo new hello --vcs none", "ls hello"],
  },
  {
    name: "cargo build and test",
    from: "cargo's book",
    base: "folder",
    needs: "cargo --version",
    before: "cargo new -q hello --vcs none",
    ignore: /^hello\/target\//,
    steps: ["cd hello && cargo build --offline", "cd hello && cargo test --offline -q"],
  },
  {
    name: "javac and java",
    from: "a tutorial of Java",
    needs: "javac",
    before: `printf 'class Main{public static void main(String[] a){System.out.println("hi");}}\\n' > Main.java`,
    steps: ["javac Main.java", "java Main"],
  },
  {
    name: "perl one-liner",
    from: "perl's handbook",
    steps: ["perl -pi -e 's/sum/total/g' README.md", "cat README.md"],
  },
  {
    name: "a server and curl",
    from: "express, README",
    before: SERVER,
    steps: [
      { run: "PORT=18431 node server.js", background: true },
      "curl -s --retry 20 --retry-delay 1 --retry-connrefused http://127.0.0.1:18431/a",
      "curl -s http://127.0.0.1:18431/b",
    ],
  },
  {
    name: "python's server and curl",
    from: "python's handbook",
    steps: [
      { run: "python3 -m http.server 18432 --bind 127.0.0.1", background: true },
      "curl -s --retry 20 --retry-delay 1 --retry-connrefused http://127.0.0.1:18432/README.md",
    ],
  },
  {
    name: "a server stopped by its pid file",
    from: "a guide to deployment",
    before: SERVER,
    steps: [
      "PORT=18433 nohup node server.js > server.log 2>&1 & echo $! > server.pid",
      "curl -s --retry 20 --retry-delay 1 --retry-connrefused http://127.0.0.1:18433/",
      "kill $(cat server.pid)",
    ],
    ignore: /server\.pid$/,
  },
  {
    name: "a server for the tests in one line",
    from: "a CI file",
    before: SERVER,
    steps: [
      "PORT=18434 node server.js & pid=$!; curl -s --retry 20 --retry-delay 1 --retry-connrefused http://127.0.0.1:18434/x; kill $pid",
    ],
  },
  {
    name: "a scaffold with editor settings",
    from: "a create-app README",
    before: SCAFFOLD,
    steps: ["node scaffold.mjs", "ls -A app app/.vscode"],
  },
  {
    name: "husky init by its own script",
    from: "husky's installation page",
    before: `printf '#!/bin/sh\\nmkdir -p .husky && echo "npm test" > .husky/pre-commit && git config core.hooksPath .husky\\n' > init.sh`,
    whole: true,
    steps: ["sh init.sh", "git config --get core.hooksPath", "ls .husky"],
  },
  {
    name: "sqlite by python",
    from: "python's handbook",
    steps: [
      "python3 -c \"import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t(x)'); c.commit()\"",
      "python3 -c \"import sqlite3; print(sqlite3.connect('a.db').execute('select count(*) from t').fetchone())\"",
    ],
    ignore: /\.db$/,
  },
  {
    name: "a cache in the home folder",
    from: "a linter's README",
    steps: ["mkdir -p ~/.cache/lint && echo 1 > ~/.cache/lint/state && cat ~/.cache/lint/state"],
  },
];
