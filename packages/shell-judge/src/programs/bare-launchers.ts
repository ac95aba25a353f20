import { alike, rowOf } from "../tables.ts";
import { baseName, launchesOf, SHELLS } from "./launches.ts";
import { wordsIn } from "./network-row.ts";

/** A program that runs what it reads, unless its words name a script. */
interface Launcher {
  /** Options that take the next word. */
  readonly values?: string;
  /** Options behind which the script or what it is to do stands. */
  readonly scripts?: string;
  /** Options with which it runs no text that it reads. */
  readonly modes?: string;
  /** How many other words make it a fixed one; 1 when absent. */
  readonly operands?: number;
}

const VERSION = "--version --help -V -h";
const LAUNCHERS: Readonly<Record<string, Launcher>> = {
  ...alike("python python2 python3 pypy pypy3", { values: "-W -X -Q", scripts: "-c -m" }),
  ...alike("node nodejs tsx ts-node deno bun", {
    values: "-r --require --import --loader --env-file -C --conditions",
    scripts: "-e -p --eval --print --run -pe",
    modes: "--test -v",
  }),
  perl: { values: "-I -M -m", scripts: "-e -E -ne -pe -nE -pE -lne -lpe -lane -i", modes: "-v" },
  ruby: { values: "-I -r -C -E", scripts: "-e -ne -pe", modes: "-v" },
  php: { values: "-c -d -z", scripts: "-r -f -S -B -R", modes: "-v -m -i" },
  ...alike(
    "lua luajit Rscript R julia tclsh wish guile groovy scala elixir swipl octave escript irb ghci expect",
    {
      values: "-l -L",
      scripts: "-e --eval -f",
    },
  ),
  ...alike("awk gawk mawk nawk", { values: "-F -v", scripts: "-f" }),
  ...alike("psql mysql mariadb mongosh", {
    values: "-h -U -u -d -p -P --host --port --user",
    scripts: "-c -f -e",
    operands: 99,
  }),
  ...alike("sqlite3 duckdb", { values: "-separator -cmd", operands: 2 }),
  ...alike("gdb lldb ed ex m4 dc at batch crontab", { values: "-x -f", operands: 99 }),
  ...alike("ssh autossh mosh", {
    values: "-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w",
    operands: 2,
  }),
  ...alike("npx bunx pnpx uvx pipx", { values: "-p --package --from --with --python", scripts: "-c --call" }),
};
/** They start a program of their words where it cannot be seen which. */
const CONTAINERS =
  /^(?:docker|podman|nerdctl|kubectl|oc|lxc|incus|systemd-run|machinectl|distrobox|toolbox|flatpak|chroot|nsenter|bwrap|su|runuser|docker-compose)$/;

/**
 * Whether a rule with these words would cover whatever is handed to a shell, an interpreter or another launcher: no
 * word of it says what that is to run.
 */
export function isBareLauncher(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  const row = rowOf(LAUNCHERS, name) ?? rowOf(LAUNCHERS, name.replace(/[\d.]+$/, ""));
  if (row !== undefined) return !namesScript(words, row);
  if (CONTAINERS.test(name)) return words.some((_, at) => at > 0 && startsBare(words.slice(at)));
  const launches = launchesOf(words);
  if (SHELLS.has(name) || /^(?:eval|source|\.)$/.test(name)) {
    const isPlain = words.slice(1).some((word) => /^[^-]/.test(word));
    return !isPlain || launches.some(({ kind }) => kind === "unseen");
  }
  if (WRAPPERS.test(name) && launches.length === 0) return true;
  return launches.some(
    (launch) => launch.kind === "words" && isBareLauncher(words.slice(launch.from, launch.to)),
  );
}

/** The same for those that run any text as code: an "always" for one counts no longer, and a rule is warned about. */
export function runsWhatItReads(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "").replace(/[\d.]+$/, "");
  const isOne =
    SHELLS.has(name) ||
    /^(?:\w?awk|bunx|env|eval|node|nodejs|npx|perl|php|pypy|python|ruby|ssh|sudo|uvx|xargs)$/.test(name);
  return isOne && isBareLauncher(words);
}

const WRAPPERS =
  /^(?:env|xargs|parallel|sudo|doas|nohup|setsid|time|timeout|nice|ionice|stdbuf|exec|command|builtin|watch|strace|flock|su|run0|pkexec)$/;

function startsBare(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  return (SHELLS.has(name) || rowOf(LAUNCHERS, name) !== undefined) && isBareLauncher(words);
}

function namesScript(words: readonly string[], row: Launcher): boolean {
  const { values = "", scripts = "", modes = "", operands = 1 } = row;
  let found = 0;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const hasNext = words[at + 1] !== undefined && words[at + 1] !== "-";
    if (wordsIn(`${modes} ${VERSION}`).includes(word)) return true;
    if (wordsIn(scripts).includes(word)) return hasNext;
    if (wordsIn(scripts).some((option) => /^--./.test(option) && word.startsWith(`${option}=`))) return true;
    if (wordsIn(values).includes(word)) at += 1;
    else if (/^(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/.*)$/.test(word)) return false;
    else if (!word.startsWith("-")) found += 1;
  }
  return found >= operands;
}
