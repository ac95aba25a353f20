import { splitWords } from "@burin/contract/text/words";
import { findRow, repeatRow } from "../tables.ts";
import { baseName, listLaunches, SHELLS } from "./launches.ts";

/** A program that runs whatever it reads, unless its words name a script. */
interface Launcher {
  /** Options that take the next word. */
  readonly values?: string;
  /** Options whose next word is the script or the code to run. */
  readonly scripts?: string;
  /** Options with which the program does not run the text that it reads. */
  readonly modes?: string;
  /** How many further words make the command specific enough for a rule; 1 when absent. */
  readonly operands?: number;
}

const VERSION_OPTIONS = "--version --help -V -h";
const LAUNCHERS: Readonly<Record<string, Launcher>> = {
  ...repeatRow("python python2 python3 pypy pypy3", { values: "-W -X -Q", scripts: "-c -m" }),
  ...repeatRow("node nodejs tsx ts-node deno bun", {
    values: "-r --require --import --loader --env-file -C --conditions",
    scripts: "-e -p --eval --print --run -pe",
    modes: "--test -v",
  }),
  perl: { values: "-I -M -m", scripts: "-e -E -ne -pe -nE -pE -lne -lpe -lane -i", modes: "-v" },
  ruby: { values: "-I -r -C -E", scripts: "-e -ne -pe", modes: "-v" },
  php: { values: "-c -d -z", scripts: "-r -f -S -B -R", modes: "-v -m -i" },
  ...repeatRow(
    "lua luajit Rscript R julia tclsh wish guile groovy scala elixir swipl octave escript irb ghci expect",
    {
      values: "-l -L",
      scripts: "-e --eval -f",
    },
  ),
  ...repeatRow("awk gawk mawk nawk", { values: "-F -v", scripts: "-f" }),
  ...repeatRow("psql mysql mariadb mongosh", {
    values: "-h -U -u -d -p -P --host --port --user",
    scripts: "-c -f -e",
    operands: 99,
  }),
  ...repeatRow("sqlite3 duckdb", { values: "-separator -cmd", operands: 2 }),
  ...repeatRow("gdb lldb ed ex m4 dc at batch crontab", { values: "-x -f", operands: 99 }),
  ...repeatRow("ssh autossh mosh", {
    values: "-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w",
    operands: 2,
  }),
  ...repeatRow("npx bunx pnpx uvx pipx", {
    values: "-p --package --from --with --python",
    scripts: "-c --call",
  }),
};
/** Programs that start a program from their words, where it is unclear which word that is. */
const CONTAINERS =
  /^(?:docker|podman|nerdctl|kubectl|oc|lxc|incus|systemd-run|machinectl|distrobox|toolbox|flatpak|chroot|nsenter|bwrap|su|runuser|docker-compose)$/;

/**
 * Whether a rule with these words would let a shell, an interpreter or another launcher run anything, because none of
 * the words says what is run.
 */
export function isBareLauncher(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  const row = findRow(LAUNCHERS, name) ?? findRow(LAUNCHERS, name.replace(/[\d.]+$/, ""));
  if (row !== undefined) return !namesScript(words, row);
  if (CONTAINERS.test(name)) return words.some((_, at) => at > 0 && isBareWrapper(words.slice(at)));
  const launches = listLaunches(words);
  if (SHELLS.has(name) || /^(?:eval|source|\.)$/.test(name)) {
    const isPlain = words.slice(1).some((word) => /^[^-]/.test(word));
    return !isPlain || launches.some(({ kind }) => kind === "unseen");
  }
  if (WRAPPERS.test(name) && launches.length === 0) return true;
  return launches.some(
    (launch) => launch.kind === "words" && isBareLauncher(words.slice(launch.from, launch.to)),
  );
}

/**
 * Like `isBareLauncher`, for programs that run any text as code. An existing "always" for one is ignored, and a rule
 * gets a warning.
 */
export function runsTextAsCode(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "").replace(/[\d.]+$/, "");
  const isOne =
    SHELLS.has(name) ||
    /^(?:\w?awk|bunx|env|eval|node|nodejs|npx|perl|php|pypy|python|ruby|ssh|sudo|uvx|xargs)$/.test(name);
  return isOne && isBareLauncher(words);
}

const WRAPPERS =
  /^(?:env|xargs|parallel|sudo|doas|nohup|setsid|time|timeout|nice|ionice|stdbuf|exec|command|builtin|watch|strace|flock|su|run0|pkexec)$/;

function isBareWrapper(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  return (SHELLS.has(name) || findRow(LAUNCHERS, name) !== undefined) && isBareLauncher(words);
}

function namesScript(words: readonly string[], row: Launcher): boolean {
  const { values = "", scripts = "", modes = "", operands = 1 } = row;
  let found = 0;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const hasNext = words[at + 1] !== undefined && words[at + 1] !== "-";
    if (splitWords(`${modes} ${VERSION_OPTIONS}`).includes(word)) return true;
    if (splitWords(scripts).includes(word)) return hasNext;
    if (splitWords(scripts).some((option) => /^--./.test(option) && word.startsWith(`${option}=`)))
      return true;
    if (splitWords(values).includes(word)) at += 1;
    else if (/^(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/.*)$/.test(word)) return false;
    else if (!word.startsWith("-")) found += 1;
  }
  return found >= operands;
}
