// Draws command lines: programs, options, paths inside and outside, globs, quotes, pipes, loops, substitutions.

/** @param {number} seed A small generator of numbers between 0 and 1, the same for the same seed. */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** @typedef {() => number} Random */
/** @type {(random: Random, items: readonly string[]) => string} */
const pick = (random, items) => items[Math.floor(random() * items.length)] ?? "";
/** @type {(random: Random, share: number) => boolean} */
const isLucky = (random, share) => random() < share;

const INSIDE =
  "a.txt b.txt alias.txt package.json src src/a.ts src/b.ts src/deep src/deep/c.ts lists lists/names.txt mixed mixed/plain.txt mixed/in mixed/in/a.ts . ./src src/../a.txt ./src/deep/../b.ts missing odd".split(
    " ",
  );
const SHARP = [
  ..."link link.txt mixed/out.txt link/secret.txt link/../a.txt ../outside/secret.txt /etc/passwd ~/x -rf -L -R -o".split(
    " ",
  ),
  ..."*.txt src/*.ts * */*.txt mixed/* l*.txt odd/* ?.txt [ab].txt src/**/*.ts .* {a,b}.txt $HOME $HOME/x $MY_SECRET".split(
    " ",
  ),
  ...[
    '"$PWD"',
    '"$MY_SECRET"',
    '"$(cat a.txt)"',
    "$(cat lists/names.txt)",
    "$(git rev-parse HEAD)",
    "$(find src -print0)",
    '"$(git rev-parse --show-toplevel)/src"',
    "<(sort a.txt)",
    "<(cat link.txt)",
    "'a b'",
    '""',
  ],
];
const PATTERNS = ["foo", "'foo|bar'", "beta", "'a.*'", "-e foo", "-f lists/names.txt", "'$x'", "NOTE", "''"];
/** Each with what its operands are: paths, a pattern first, or text. */
const PROGRAMS = [
  ..."cat|cat -n|head -2|head -n 1|tail -3|nl|tac|wc -l|wc|sort|sort -u|sort -rn|uniq|uniq -c|cut -c1-3|ls|ls -la|ls -R|ls -L|ls -LR|du -s|du -aL".split(
    "|",
  ),
  ..."stat|file|realpath|readlink -f|md5sum|od -c|hexdump -C|column -t|diff|diff -r|diff -u|cmp|comm|paste|rev|base64|strings|fold|tree|tree -l".split(
    "|",
  ),
  ..."sort -o x|sort --compress-program=./bin/ls|sort -S1k|wc --files0-from|tail -n +2|md5sum -c|split|split --filter=cat|tee|uniq a.txt|xxd|onlyhere".split(
    "|",
  ),
  ..."test -f|[ -f|jq .|jq -r .name|jq -n env|jq -f|jq --rawfile x|sed -n 1p|sed p|sed -i p|sed 'w x'|awk 1|awk '{print $1}'|awk 'BEGIN{print ENVIRON[\"HOME\"]}'".split(
    "|",
  ),
  ..."git status|git log --oneline|git diff|git show|git ls-files|git grep foo|git blame|git rev-parse HEAD|git branch|git log -p -1|git tar".split(
    "|",
  ),
];
const SEARCHES =
  "grep|grep -n|grep -r|grep -rn|grep -R|grep -c|grep -l|grep -rl|rg|rg -n|rg -L|rg -l|rg --files|grep -d recurse|egrep|grep -o".split(
    "|",
  );
const TEXTS = [
  "echo",
  "echo -n",
  "printf '%s\\n'",
  "printf",
  "printf %n",
  "basename",
  "dirname",
  "true",
  ":",
  "seq 3",
  "expr 1 +",
  "which",
  "type",
  "command -v",
  "printenv",
  "env",
  "id",
  "date",
  "date +%F",
  "uname -a",
  "pwd",
  "cd",
  "read -r x",
  "set",
  "export",
  "declare -p",
  "hash -p bin/ls",
];
const FIND_TESTS = [
  "-name '*.ts'",
  "-name '*.txt'",
  "-type f",
  "-type l",
  "-name out.txt",
  "-maxdepth 1",
  "-o -name x",
  "! -name b.ts",
  "-newer a.txt",
  "-empty",
  "-print0",
  "-follow",
  "-size +0",
  "-delete",
  "-printf '%p\\n'",
  "-fprint x",
];
const WRAPPERS = [
  "timeout 5",
  "nice",
  "env",
  "env -i",
  "command",
  "stdbuf -o0",
  "time",
  "!",
  "env CI=1",
  "PATH=bin",
  "CI=1",
  "xargs",
  "nohup",
  "builtin",
  "\\",
];
const REDIRECTIONS = [
  "2>/dev/null",
  "2>&1",
  "> /dev/null",
  "< a.txt",
  "< link.txt",
  "<<< text",
  '<<< "$(cat b.txt)"',
  "> x",
  ">> a.txt",
  "2> x",
];

/** @param {Random} random */
function pickPath(random) {
  const text = isLucky(random, 0.82) ? pick(random, INSIDE) : pick(random, SHARP);
  return isLucky(random, 0.1) && /^[\w./-]+$/.test(text)
    ? pick(random, [`'${text}'`, `"${text}"`, `./${text}`, `${text}/`])
    : text;
}

/** @param {Random} random @param {number} most */
function pickPaths(random, most) {
  return Array.from({ length: Math.floor(random() * (most + 1)) }, () => pickPath(random)).join(" ");
}

/** @param {Random} random @param {string} operand What stands for the paths. */
function makeReader(random, operand) {
  if (isLucky(random, 0.3)) return `${pick(random, SEARCHES)} ${pick(random, PATTERNS)} ${operand}`;
  const program = pick(random, PROGRAMS);
  return program.startsWith("[") ? `${program} ${operand} ]` : `${program} ${operand}`;
}

/** @param {Random} random */
function makeFind(random) {
  const follow = isLucky(random, 0.1) ? "-L " : "";
  const tests = Array.from({ length: Math.floor(random() * 3) }, () => pick(random, FIND_TESTS)).join(" ");
  const launch = isLucky(random, 0.5)
    ? ` ${pick(random, ["-exec", "-exec", "-ok", "-execdir"])} ${makeReader(random, "{}")} ${pick(random, ["+", "\\;", "';'"])}`
    : "";
  return `find ${follow}${pickPath(random)} ${tests}${launch}`;
}

/** @param {Random} random */
function makeNames(random) {
  return pick(random, [
    "ls",
    "ls src",
    "git ls-files",
    "find src -type f",
    "find . -name '*.ts'",
    "grep -rl foo src",
    "rg -l foo",
    "cat lists/names.txt",
    "find mixed",
    "find odd -type f",
    "ls mixed",
    makeFind(random),
  ]);
}

/** @param {Random} random @param {number} depth @returns {string} */
function makeSimple(random, depth) {
  const kind = random();
  let text = makeReader(random, isLucky(random, 0.06) ? `"$(${makeNames(random)})"` : pickPaths(random, 2));
  if (kind < 0.14) text = makeFind(random);
  else if (kind < 0.24) text = `${pick(random, TEXTS)} ${pickPaths(random, 2)}`;
  else if (kind < 0.32)
    text = `${makeNames(random)} | ${pick(random, ["", "sort | ", "grep ts | ", "head -2 | "])}xargs ${pick(random, ["", "-0", "-n 1", "-I{}"])} ${makeReader(random, isLucky(random, 0.4) ? "{}" : "")}`;
  else if (kind < 0.38 && depth < 2)
    text = `echo ${pick(random, ['"', ""])}$(${makeLine(random, depth + 1)})"`.replace(
      /^echo \$(.*)"$/,
      "echo $$$1",
    );
  else if (kind < 0.41) text = `sh -c '${makeReader(random, pickPaths(random, 1)).replaceAll("'", "")}'`;
  if (isLucky(random, 0.07)) text = `${pick(random, WRAPPERS)} ${text}`;
  return isLucky(random, 0.15) ? `${text} ${pick(random, REDIRECTIONS)}` : text;
}

/** @param {Random} random @param {number} depth @returns {string} */
function makeCompound(random, depth) {
  const body = () =>
    isLucky(random, 0.6)
      ? makeReader(random, pick(random, ['"$f"', "$f", '"src/$f"', '"$f.x"']))
      : makeLine(random, depth + 1);
  const set = () =>
    pick(random, [pickPath(random), "$f", `"$(${makeNames(random)})"`, `$(${makeNames(random)} | head -1)`]);
  const used = () => makeReader(random, pick(random, ['"$n"', "$n", '"$n/a.ts"', '"$f"']));
  switch (Math.floor(random() * 11)) {
    case 0:
      return `for f in ${pickPaths(random, 3)}; do ${body()}; done`;
    case 1:
      return `${makeNames(random)} | while read -r f; do ${body()}; done`;
    case 2:
      return `if ${makeLine(random, depth + 1)}; then ${makeLine(random, depth + 1)}; fi`;
    case 3:
      return `[[ ${pick(random, ["-f", "-d", "-n", "-v", "-z"])} ${pickPath(random)} ]] && ${makeLine(random, depth + 1)}`;
    case 4:
      return `case ${pickPath(random)} in *.txt) ${makeLine(random, depth + 1)} ;; *) ${makeSimple(random, depth)} ;; esac`;
    case 5:
      return `(cd ${pickPath(random)} && ${makeLine(random, depth + 1)})`;
    case 6:
      return `for f in ${pickPaths(random, 3)}; do ${pick(random, ["", `${used()}; `, "true && "])}n=${set()}; ${used()}; done`;
    case 7:
      return `n=${set()}${pick(random, ["; ", " && ", " || "])}${used()}`;
    case 8:
      return `${makeNames(random)} | while read -r f; do n=${set()}; ${used()}; done; ${used()}`;
    case 9:
      return `n=$(git rev-parse ${pick(random, ["HEAD", "--show-toplevel"])}); ${pick(random, ["cd $n", 'cd "$n/src"', "git show $n", "true"])} && ${used()}`;
    default:
      return `while IFS= read -r ${pick(random, ["", "-d '' "])}f; do ${body()}; done ${pick(random, ["<", "<", "3<"])} ${pick(random, [pickPath(random), `<(${makeNames(random)})`, `<(${makeFind(random)})`])}`;
  }
}

/** @param {Random} random @param {number} depth @returns {string} */
function makeLine(random, depth) {
  const first = depth < 3 && isLucky(random, 0.18) ? makeCompound(random, depth) : makeSimple(random, depth);
  if (depth > 2 || isLucky(random, 0.65)) return first;
  const joint = pick(random, [" | ", " | ", " && ", "; ", " || ", "\n"]);
  return `${first}${joint}${isLucky(random, 0.15) ? `cd ${pickPath(random)} && ` : ""}${makeLine(random, depth + 1)}`;
}

/** @param {Random} random */
export function makeCommandLine(random) {
  return makeLine(random, 0);
}
