import { createWordSet } from "@burin/contract/text/words";
import { findRow, repeatRow } from "../tables.ts";
import { findLaunchEnd } from "./find.ts";
import { isOneOf } from "./options.ts";

/** What a program starts, as far as its own words say it. */
export type Launch =
  | {
      readonly kind: "words";
      /** The range of the launched words: from here up to, but not including, `to`. */
      readonly from: number;
      readonly to: number;
      /** true if further words follow that are known only at run time. */
      readonly isOpen: boolean;
      /** The placeholder that is replaced everywhere in the words by something known only at run time. */
      readonly placeholder?: string;
    }
  /** A whole command line for a shell, or null when it is unknown. `at` is the index of its last word. */
  | { readonly kind: "script"; readonly text: string | null; readonly at: number }
  /** true if the program starts something that its words do not name. */
  | { readonly kind: "unseen" };

interface Wrapper {
  /** Letters of options with a value. */
  readonly values?: string;
  readonly long?: string;
  /** How many words of its own stand between the options and the command. */
  readonly before?: number;
  readonly isOpen?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  ...repeatRow("command builtin nohup setsid busybox toybox catchsegv", {}),
  ...repeatRow("chronic linux32 linux64 i386 x86_64 uname26 setarch unbuffer ssh-agent dbus-launch run0", {}),
  ...repeatRow("rlwrap torify torsocks proxychains proxychains4 tsocks valgrind firejail grc eatmydata", {}),
  ...repeatRow("nocache systemd-inhibit entr watchexec cross-env concurrently heaptrack bunx", {}),
  ...repeatRow("ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1", {}),
  ...repeatRow("taskset chroot gosu su-exec logsave", { before: 1 }),
  ...repeatRow("aa-exec choom cpulimit cgexec trickle hyperfine", { values: "pnlegduwtmrsS" }),
  env: { values: "uCSa", long: "--unset --chdir --split-string --argv0" },
  nice: { values: "n", long: "--adjustment" },
  timeout: { values: "ks", long: "--kill-after --signal", before: 1 },
  stdbuf: { values: "ioe", long: "--input --output --error" },
  xargs: {
    // The values of the other options, such as `-i`, are attached.
    values: "adEIJLnPsR",
    long: "--arg-file --delimiter --max-args --max-chars --max-procs --process-slot-var",
    isOpen: true,
  },
  exec: { values: "a" },
  sudo: {
    values: "CDghpRrTtUu",
    long: "--user --group --chdir --host --prompt --chroot --role --type --other-user --close-from",
  },
  doas: { values: "Cu" },
  time: { values: "fo", long: "--format --output" },
  ionice: { values: "cnpPu", long: "--class --classdata" },
  chrt: { values: "TPDp", before: 1 },
  flock: { values: "wE", long: "--timeout --conflict-exit-code", before: 1 },
  unshare: { values: "SGRw" },
  nsenter: { values: "tSGW", long: "--target --setuid --setgid --wdns" },
  numactl: { values: "imNCpPwfLo" },
  sshpass: { values: "pfdP" },
  strace: { values: "abeEIoOpPsSuX" },
  ltrace: { values: "abeFlnopsuwx" },
  parallel: { values: "jnNIaS" },
  watch: { values: "nq", long: "--interval" },
  fakeroot: { values: "lfisb", long: "--lib --faked --fd-base" },
  pkexec: { long: "--user" },
  prlimit: { values: "po", long: "--pid --output" },
  setpriv: {
    long: `
      --ruid --euid --rgid --egid --reuid --regid --groups --inh-caps --ambient-caps --bounding-set
      --securebits --pdeathsig --selinux-label --apparmor-profile --landlock-access --landlock-rule
      --ptracer`,
  },
  "dbus-run-session": { long: "--config-file --dbus-daemon" },
  "xvfb-run": {
    values: "efnpsw",
    long: "--error-file --auth-file --server-num --xauth-protocol --server-args --wait",
  },
  npx: { values: "pc", long: "--package --call" },
};

export const SHELLS = createWordSet("sh bash dash zsh ksh mksh ash fish rbash");

/** Options and settings with which a wrapper adds nothing to what it launches. */
const HARMLESS_WRAPPING: Readonly<Record<string, RegExp>> = {
  env: /^(?:(?:CI|NO_COLOR|FORCE_COLOR|NODE_ENV)=[\w.-]*(?: |$))*$/,
  nice: /^(?:-n ?\d+)?$/,
  timeout: /^(?:(?:-[ks] ?\w+|--foreground) )*\d+(?:\.\d+)?[smhd]?$/,
  stdbuf: /^(?:-[ioe] ?[0L](?: |$))+$/,
  command: /^$/,
  xargs: /^(?:(?:-0|-r|-t|-[nLPs] ?\d+|-d ?\\n|-I ?\{\}|--null|--no-run-if-empty)(?: |$))*$/,
  bash: /^-l?c$/,
  sh: /^-c$/,
};

/** Whether the program may be judged as the command that it launches. */
export function isWrapper(name: string): boolean {
  return Object.hasOwn(HARMLESS_WRAPPING, name);
}

/** Whether a program with these words, without its name, does nothing except what it launches. */
export function isTransparentLauncher(name: string, own: readonly string[]): boolean {
  return name === "find" || (isWrapper(name) && HARMLESS_WRAPPING[name]?.test(own.join(" ")) === true);
}

/** Whether the text that it is given is for bash, and not for a shell that understands less. */
export function isBashLike(program: string): boolean {
  return /^(?:bash|eval)$/.test(baseName(program));
}

export function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** What the words of a command launch besides the program itself; an unknown word is null. */
export function listLaunches(words: readonly (string | null)[]): readonly Launch[] {
  const [program] = words;
  if (program === null || program === undefined) return [];
  const name = baseName(program);
  const wrapper = findRow(WRAPPERS, name);
  // With one of these options it only prints where a program is.
  if (name === "command" && /^-[vV]$/.test(words[1] ?? "")) return [];
  if (isScriptOption(name, words)) return readScriptOption(words);
  if (wrapper !== undefined) return readWrapper(words, name, wrapper);
  if (SHELLS.has(name)) return readShellLaunch(words);
  if (name === "eval") {
    const text = words.includes(null) ? null : words.slice(1).join(" ");
    return [{ kind: "script", text, at: words.length - 1 }];
  }
  if (/^(?:\.|source)$/.test(name)) return isPipe(words[1]) || words[1] === null ? [{ kind: "unseen" }] : [];
  if (KEEPING_BUILTIN.test(name)) return listKeptScripts(words);
  return /^(?:find|fd|fdfind)$/.test(name) ? findLaunches(words) : [];
}

/** Builtins that store a command line to run later. */
const KEEPING_BUILTIN = /^(?:trap|alias|mapfile|readarray|compgen|complete)$/;

function listKeptScripts(words: readonly (string | null)[]): Launch[] {
  const [name] = words;
  const isKept = (word: string, at: number) => {
    const before = words[at - 1] ?? "";
    if (name === "alias") return word.includes("=");
    return name === "trap"
      ? (at === 1 || before === "--") && !/^(?:-.*)?$/s.test(word)
      : /^-\w*C$/.test(before);
  };
  return words.flatMap((word, at): Launch[] => {
    if (at === 0 || (word !== null && !isKept(word, at))) return [];
    return [{ kind: "script", text: word?.replace(name === "alias" ? /^[^=]+=/ : /^/, "") ?? null, at }];
  });
}

function readWrapper(words: readonly (string | null)[], name: string, wrapper: Wrapper): Launch[] {
  const to = words.length;
  let from = 1;
  while (from < to && words[from] !== "--") {
    const word = words[from];
    if (word === null || word === undefined) return [{ kind: "unseen" }];
    const isOwn = isWrapperArgument(name, word, from);
    if (!isOwn && !/^-./s.test(word)) break;
    from += !isOwn && takesNextWordAsValue(word, wrapper) ? 2 : 1;
  }
  // The launched command may have such an option of its own.
  const hasOption = (option: RegExp) => words.slice(1, from).some((word) => option.test(word ?? ""));
  if (name === "env" && hasOption(/^(?:-\w*S|--s)/)) return [{ kind: "unseen" }];
  const placeholder = name === "xargs" ? findPlaceholder(words.slice(1, from)) : undefined;
  if (words[from] === "--") from += 1;
  from += wrapper.before ?? 0;
  if (from >= to) return [];
  const isOpen = wrapper.isOpen === true;
  const line = words.slice(from).join(" ");
  if (JOINING_PROGRAMS.has(name) && /[;&|<>()$`\\"'\n*?#~!]/.test(line))
    return [{ kind: "script", text: line, at: to - 1 }];
  return [{ kind: "words", from, to, isOpen, ...(placeholder !== undefined && { placeholder }) }];
}

/** Programs that join their words to one line and pass it to a shell. */
const JOINING_PROGRAMS = createWordSet("watch parallel sem");

/** Returns the placeholder that xargs replaces with each line, however it is given. */
function findPlaceholder(own: readonly (string | null)[]): string | undefined {
  for (const [at, word] of own.entries()) {
    const [found, takes, attached = ""] =
      /^-(?:[rtpx0]*(?:([IJ])|i)|-replace=?)(.*)$/s.exec(word ?? "") ?? [];
    if (found !== undefined) return attached || (takes && own[at + 1]) || "{}";
  }
  return undefined;
}

/** Whether the word is a variable that env sets, or the architecture, which setarch takes before its options. */
function isWrapperArgument(name: string, word: string, at: number): boolean {
  if (/^(?:env|sudo|cross-env)$/.test(name)) return /^(?:\w+=|-$)/.test(word);
  return name === "setarch" && at === 1;
}

function takesNextWordAsValue(option: string, { values = "", long = "" }: Wrapper): boolean {
  if (option.startsWith("--")) return !option.includes("=") && isOneOf(option, "", long);
  const last = option.at(-1) ?? "";
  const first = [...option.slice(1)].findIndex((letter) => values.includes(letter));
  return values.includes(last) && first === option.length - 2;
}

/** The script of `-c`, or a file, comes after all options; a script on standard input is not visible here. */
function readShellLaunch(words: readonly (string | null)[]): Launch[] {
  let isScript = false;
  let isInput = false;
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word === null || word === undefined) return [{ kind: "unseen" }];
    if (!/^[-+]/.test(word)) break;
    isScript ||= (words[0]?.endsWith("fish") ? /^-[a-zA-Z]*[cC]/ : /^-[a-zA-Z]*c/).test(word);
    isInput ||= /^-[a-zA-Z]*s/.test(word);
    if (/^(?:[-+]\w*[oO]|--(?:rc|init-)file)$/.test(word)) at += 1;
    if (/^--?$/.test(word)) {
      at += 1;
      break;
    }
  }
  if (isScript) return [{ kind: "script", text: words[at] ?? null, at }];
  return isInput || words[at] === undefined || isPipe(words[at]) ? [{ kind: "unseen" }] : [];
}

/** Whether a word that it names as a file is its input, or the output of another command. */
function isPipe(word: string | null | undefined): boolean {
  return /^\/(?:dev\/(?:stdin$|fd\/)|proc\/self\/fd\/)/.test(word ?? "");
}

/** flock accepts it only directly after its file. */
function isScriptOption(name: string, words: readonly (string | null)[]): boolean {
  const own = words.slice(1, -3).every((word) => /^(?:-|\d)/.test(word ?? ""));
  if (name === "npx") return /^(?:-c|--call)$/.test(words[1] ?? "");
  return (
    /^(?:su|sg|script|runuser|capsh|at|batch)$/.test(name) ||
    (name === "flock" && words.at(-2) === "-c" && own)
  );
}

function readScriptOption(words: readonly (string | null)[]): Launch[] {
  const at = words.findIndex((word) => /^(?:-[a-zA-Z]*c|--call)$/.test(word ?? ""));
  return at === -1 ? [{ kind: "unseen" }] : [{ kind: "script", text: words[at + 1] ?? null, at: at + 1 }];
}

function findLaunches(words: readonly (string | null)[]): Launch[] {
  const launches: Launch[] = [];
  for (let index = 1; index < words.length; index += 1) {
    if (!/^-(?:(?:exec|ok)(?:dir)?|[xX]|-exec(?:-batch)?)$/.test(words[index] ?? "")) continue;
    const to = findLaunchEnd(words, index);
    launches.push({ kind: "words", from: index + 1, to, isOpen: false, placeholder: "{}" });
    index = to;
  }
  return launches;
}
