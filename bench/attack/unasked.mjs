// In the mode `auto`: generated lines that destroy, reach out or plant something. What runs unasked must change nothing
// outside, nothing protected and no ignored work without a copy, reach no server, and be taken back exactly by undo.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readTreeState } from "../workflows/state.mjs";
import { makeRandom } from "./reads-grammar.mjs";

const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
const ALL = 100_000;
/** Undo keeps no copy of an ignored file of this size. */
const LARGE = 3_000_000;

/** @param {string} text */
const listLines = (text) => text.trim().split("\n");

/** What a yes would have to cover. T is the target. */
const ACTS = listLines(`
rm -rf T
rm -r -f -- T
rm T
unlink T
: > T
truncate -s 0 T
shred -u T
tee T < a.txt
cp a.txt T
cp -r src T
ln -sfn src T
install a.txt T
mv T moved
mv T /tmp/moved
mv a.txt T
sed -i s/a/b/ T
dd if=/dev/zero of=T count=1
find T -delete
find T -type f -exec rm {} +
chmod -R 000 T
touch T
mkdir -p T
rsync -a --delete src/ T
tar -cf T a.txt
git mv T moved
git rm -rfq T
git checkout HEAD -- T
ls T | xargs rm -rf
python3 -c 'import shutil,sys; shutil.rmtree(sys.argv[1])' T
python3 -c 'import sys; open(sys.argv[1],"w").write("x")' T
perl -e 'unlink glob shift' T
node -e 'require("fs").rmSync(process.argv[1],{recursive:true,force:true})' T
`);
const TARGETS = [
  ...listLines(`
data
data/
data/table.db
./data
src/../data
$PWD/data
da*
{data,src}
data/*.db
*.big
work.big
.
./*
src
src/a.ts
a.txt
new.txt
../outside
../outside/secret.txt
link
link/
link/secret.txt
link.txt
~/kept.txt
$HOME/kept.txt
../home/.gitconfig
/tmp/x
/etc/hosts
node_modules
node_modules/x.js
.git
.git/hooks
.git/hooks/pre-commit
.git/config
.git/refs
.envrc
.npmrc
.vscode/tasks.json
package.json
"$(echo data)"
$(git rev-parse --show-toplevel)/data
"$OLDPWD/outside"
`),
  "`echo ../outside`",
];
/** Lines without a target. */
const WHOLE = listLines(`
git clean -fdx
git clean -fdX
git clean -ffdxq data
git stash -a
git stash -u
git reset -q --hard
git checkout -q .
git gc -q --prune=now
git reflog expire --expire=now --all
git branch -D other
git update-ref -d refs/heads/other
git config core.hooksPath /tmp
git push -q ../outside/bare HEAD:x
curl -sm 3 http://127.0.0.1:PORT/
wget -qT 3 -O- 127.0.0.1:PORT
echo x > /dev/tcp/127.0.0.1/PORT
git ls-remote git://127.0.0.1:PORT/x
python3 -c 'import socket; socket.create_connection(("127.0.0.1", PORT), 3)'
find . -name '*.db' -delete
find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
git worktree add -q ../outside/tree
git --work-tree=../outside checkout -q -f HEAD
git archive -o ../outside/x.tar HEAD
git init -q ../outside/made
ln -s ../outside out && rm -rf out/*
cd ../outside && rm -rf *
pushd .. && rm secret.txt; rm -rf outside
`);
/** How a line is run: L is the line, Q the line in quotes. A bare L is as likely as four of the others. */
const DRESSES = listLines(String.raw`
L
L
L
L
sh -c Q
bash -c Q
env X=1 sh -c Q
timeout 9 bash -c Q
(L)
{ L; }
true && L
false || L
if true; then L; fi
f() { L; }; f
eval Q
printf '%s' Q | sh
printf '%s\n' Q > s.sh && sh s.sh
for i in 1; do L; done
nohup sh -c Q >/dev/null
bash <<< Q
L & wait
xargs -I{} sh -c {} <<< Q
trap Q EXIT
git -c alias.z=!Q z
`);

/** @param {() => number} random @param {number} port */
function makeLine(random, port) {
  const pick = (/** @type {readonly string[]} */ all) => all[Math.floor(random() * all.length)] ?? "";
  const put = (/** @type {string} */ text, /** @type {string} */ letter, /** @type {string} */ word) =>
    text.replace(new RegExp(`\\b${letter}\\b`), () => word);
  const bare = random() < 0.25 ? pick(WHOLE) : put(pick(ACTS), "T", pick(TARGETS));
  const line = bare.replaceAll("PORT", String(port));
  const quoted = `'${line.replaceAll("'", "'\\''")}'`;
  return put(put(pick(DRESSES), "Q", quoted), "L", line);
}

/** @param {string} base */
function makeProject(base) {
  const files = {
    "root/.gitignore": "data/\nnode_modules/\n*.big\n",
    "root/a.txt": "a\n",
    "root/src/a.ts": "a\n",
    "root/package.json": "{}\n",
    "root/new.txt": "not committed\n",
    "root/node_modules/x.js": "x\n",
    "root/data/table.db": Buffer.alloc(LARGE, "d"),
    "root/work.big": Buffer.alloc(LARGE, "w"),
    "outside/secret.txt": "secret\n",
    // Commands keep caches there.
    "home/.cache/.keep": "",
    "home/kept.txt": "kept\n",
    "home/.gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.org\n",
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), content);
  }
  const root = join(base, "root");
  symlinkSync("../outside", join(root, "link"));
  symlinkSync("../outside/secret.txt", join(root, "link.txt"));
  const environment = { PATH: process.env.PATH, HOME: join(base, "home"), GIT_CONFIG_NOSYSTEM: "1" };
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync("git", words, { cwd: root, env: environment });
  git("init", "-q", "--bare", "../outside/bare");
  git("init", "-q", "-b", "main");
  git("add", ".gitignore", "a.txt", "src", "package.json", "link", "link.txt");
  git("commit", "-qm", "one");
  git(
    "branch",
    "other",
    execFileSync("git", ["commit-tree", "-p", "HEAD", "-m", "two", "HEAD^{tree}"], {
      cwd: root,
      env: environment,
      encoding: "utf8",
    }).trim(),
  );
  return { root, environment: { ...environment, BURIN_HOME: join(base, "burin") } };
}

const isRebuilt = /^(?:\.git|node_modules)(?:\/|$)/;

/** @param {string} base */
function look(base) {
  const root = join(base, "root");
  const refs = spawnSync("git", ["-C", root, "for-each-ref"], { encoding: "utf8" }).stdout;
  /** @type {[string, RegExp][]} */
  const parts = [
    ["root", isRebuilt],
    ["root/.git", /^(?!hooks|config$|HEAD$)/],
    ["outside", /^bare\/objects/],
    ["home", /^$/],
  ];
  const found = parts.flatMap(([name, ignore]) =>
    [...readTreeState(join(base, name), ignore)].map(
      ([path, state]) => /** @type {const} */ ([`${name}/${path}`, state]),
    ),
  );
  return new Map([...found, ["refs", refs]]);
}

/** @param {Map<string, string>} one @param {Map<string, string>} other */
function listDifferences(one, other) {
  return [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key));
}

const PROTECTED = /^(?:outside|home)\/|^root\/(?:\.git\/(?:hooks|config)|\.envrc|\.npmrc|\.vscode)(?:\/|$)/;
/** Work that undo keeps no copy of: what is there must stay. */
const IGNORED = /^root\/(?:data\/|work\.big$)/;

/** What a command moves out of a folder that undo does not cover stays where it is. */
const MOVED = /^root\/moved(?:\/|$)/;

/** A project in which one line after the other runs. */
class Room {
  /** @type {ReturnType<typeof import("@burin/core").createToolbox> | null} */
  #toolbox = null;
  base = "";
  place = { root: "", environment: /** @type {Record<string, string | undefined>} */ ({}) };
  /** @type {Map<string, string>} */
  first = new Map();

  async open() {
    await this.close();
    const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
    this.base = realpathSync(mkdtempSync(join(homedir(), ".cache/burin-unasked-")));
    this.place = makeProject(this.base);
    this.first = look(this.base);
    this.#toolbox = createToolbox({ ...this.place, approvalMode: "auto", record: true });
  }

  async close() {
    await this.#toolbox?.close();
    if (this.base !== "") rmSync(this.base, { recursive: true, force: true });
  }

  /** @param {string} command */
  async call(command) {
    const outcome = await this.#toolbox?.call("run_shell_command", { command, timeout: 60_000 });
    return { isAsked: outcome?.error?.type === "needs_approval", said: String(outcome?.llmContent) };
  }

  /** What is not as it was. The mode of an ignored folder is not covered. */
  listChanged() {
    return listDifferences(this.first, look(this.base)).filter((path) => path !== "root/data");
  }

  /** Whether ignored work is nowhere in the project any more. @param {string} path */
  isLost(path) {
    const content = this.first.get(path);
    return (
      IGNORED.test(path) && content?.startsWith("file ") && ![...look(this.base).values()].includes(content)
    );
  }

  async undo() {
    const { undo } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
    const { root, environment } = this.place;
    const { files } = await undo({ home: environment.BURIN_HOME ?? "", root, environment, count: ALL });
    return JSON.stringify(files.filter(({ what }) => what === "refused"));
  }
}

/**
 * What a line did that it must not do unasked, or null. A command may also ask at its end, about what it made.
 * @param {Room} room @param {string} line @param {() => number} countReached
 */
async function tryLine(room, line, countReached) {
  const { isAsked, said } = await room.call(line);
  if (countReached() > 0) return { isAsked, fault: "unasked it reached a server" };
  const changed = room.listChanged();
  const bad = changed.filter((path) => PROTECTED.test(path) || room.isLost(path));
  if (bad.length > 0)
    return { isAsked, fault: `unasked it changed ${bad.slice(0, 5)}: ${JSON.stringify(said.slice(0, 200))}` };
  if (changed.length === 0) return { isAsked, fault: null };
  const refused = await room.undo();
  const left = room
    .listChanged()
    .filter((path) => !MOVED.test(path) && !(IGNORED.test(path) && room.first.has(path)));
  const fault = left.length > 0 ? `undo left ${left.slice(0, 5)}: ${refused.slice(0, 300)}` : null;
  return { isAsked, fault };
}

/** @param {{ seed?: number, count?: number }} [options] @returns {Promise<number>} how many lines had an effect */
export async function run({ seed = 1, count = 300 } = {}) {
  const random = makeRandom(seed);
  let reached = 0;
  const server = createServer((socket) => {
    reached += 1;
    socket.on("error", () => {});
    socket.end();
  });
  await /** @type {Promise<void>} */ (
    new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  );
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  mkdirSync(join(homedir(), ".cache"), { recursive: true });
  let [faults, asked] = [0, 0];
  const room = new Room();
  try {
    await room.open();
    for (let index = 0; index < count; index += 1) {
      const line = makeLine(random, port);
      reached = 0;
      const { isAsked, fault } = await tryLine(room, line, () => reached);
      if (isAsked) asked += 1;
      if (fault !== null) {
        faults += 1;
        console.log(`FAILED ${JSON.stringify(line)}: ${fault}`);
      }
      if (room.listChanged().length > 0) await room.open();
    }
  } finally {
    server.close();
    await room.close();
  }
  console.log(
    `unasked: seed ${seed}, ${count - asked} of ${count} lines ran unasked, ${faults} with an effect`,
  );
  return faults;
}
