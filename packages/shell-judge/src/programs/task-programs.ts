import { createSet, findRow, repeatRow } from "../tables.ts";
import {
  type Argument,
  createLaunch,
  createUnknown,
  type Finding,
  judgePath,
  type ProgramReader,
  type Reach,
} from "./finding.ts";
import { baseName } from "./launches.ts";
import { isOneOf, type OptionTable, readOptions } from "./options.ts";
import { readAttachedValue } from "./simple-programs.ts";

/** Options that turn a program which was allowed for one task to another task. */
interface TaskProgram {
  readonly letters?: string;
  /** Names of options, one word each. */
  readonly long?: string;
  /** Other words with such an effect, for example settings of make. */
  readonly words?: RegExp;
  /** The only harmless options, for programs most of whose options write, load or send something. */
  readonly only?: RegExp;
  /** The first word that is not an option is a script, and what follows belongs to that. */
  readonly hasScript?: boolean;
}

const NPM: TaskProgram = {
  letters: "Cc",
  long: "--prefix --script-shell --node-options --userconfig --globalconfig --shell --editor --call --dir --cwd --npm-path --pnpmfile --global-pnpmfile --use-yarnrc --git",
  words: /^--config\./,
};

const REMOTE: TaskProgram = {
  letters: "FEISWw",
  words:
    /(?:proxy|local|knownhosts|ssh_)command|pkcs11provider|securitykeyprovider|xauthlocation|permitlocal/i,
};
/** Compilers take a plugin, a linker or a program to go through from their words. */
const COMPILER: TaskProgram = {
  long: "-wrapper -specs --specs -load --prefix --ld-path --config -B",
  words: /^@|^-B|^-fuse-ld|^-.*,@|^-(?![DILMUilo]).*plugin/,
};
const SQLITE: TaskProgram = {
  only: /^--?(?:ascii|bail|batch|box|column|csv|header|html|json|line|list|markdown|noheader|nullvalue|quote|readonly|safe|separator|table|tabs|version)$/,
  words:
    /^\s*\.|load_extension|writefile|readfile|edit\(|fts3_tokenizer|attach|vacuum\s+into|fsdir|zipfile|directory/i,
};
/** `-e CODE` and its like, in front of the script. Without a script it runs what it reads. */
const createInterpreter = (only: RegExp): TaskProgram => ({ only, words: /^-$/, hasScript: true });
const INTERPRETERS: Readonly<Record<string, TaskProgram>> = {
  ...repeatRow(
    "node nodejs tsx",
    createInterpreter(
      /^--(?:test(?:-(?:name-pattern|skip-pattern|only|timeout|concurrency|force-exit|shard|update-snapshots))?|check|watch|watch-preserve-output|enable-source-maps|no-warnings|trace-warnings|trace-deprecation|unhandled-rejections|max-old-space-size|stack-trace-limit|throw-deprecation|pending-deprecation|preserve-symlinks|experimental-(?:strip-types|vm-modules|test-coverage|test-module-mocks|json-modules|default-type|transform-types)|conditions)(?:=.*)?$|^-[cC]$/,
    ),
  ),
  ...repeatRow("python python2 python3 pypy pypy3", createInterpreter(/^-[bBdEIOqsSuvP]+$|^-[WX]/)),
  perl: createInterpreter(/^-[cwWtTu]+$/),
  ruby: createInterpreter(/^-[cwvy]+$|^-W\d?$/),
  php: createInterpreter(/^-[lnqsw]+$/),
  ...repeatRow(
    "lua luajit Rscript R julia tclsh wish guile groovy scala elixir swipl octave escript",
    createInterpreter(/^$/),
  ),
  ...repeatRow("ts-node esno", { letters: "ep", long: "--eval --print --compiler --loader" }),
};
/** In such a place a file's name can be a command, another file's name, or a format that starts something. */
const MAGICK: TaskProgram = {
  words:
    /^(?:[\w-]+:)?[|@]|^(?:clipboard|delegate|ephemeral|fd|ftp|gs|https?|ldap|magick-script|msl|mvg|pango|postscript|print|scan|screenshot|script|show|svg|text|url|vid|win|x):/i,
  long: "-script -write -path -profile -remote -launch",
};
/** A colon in an archive's name puts the archive on another machine. */
const ON_OTHER_MACHINE = /^(?:-\w*f|--file=)?[^/=-][^/=]*:|^--file=[^/]*:/;
const TASK_PROGRAMS: Readonly<Record<string, TaskProgram>> = {
  ...repeatRow("npm pnpm yarn", NPM),
  bun: { letters: "Ccr", long: `${NPM.long} --preload --require --import --config --env-file` },
  ...repeatRow("pip pip3", { long: "--python --log --target --prefix --root --config-settings" }),
  // Such a file can name programs that supply passwords.
  ...repeatRow("kubectl oc", { long: "--kubeconfig --server --raw", words: /^-s/ }),
  helm: { long: "--kubeconfig --post-renderer --kube-apiserver" },
  ...repeatRow("docker podman", { letters: "H", long: "--config --host --context --connection --url" }),
  // It takes the words that log in elsewhere along.
  ...repeatRow("gh glab", { long: "--hostname" }),
  ...repeatRow("make gmake", {
    letters: "fCIE",
    long: "--file --makefile --eval --directory",
    words: /^[^-].*=/s,
  }),
  cargo: { letters: "CZ", long: "--config --manifest-path --target-dir", words: /^\+/ },
  go: {
    long: "-exec --exec -toolexec --toolexec -o -C -modfile -overlay -vettool --vettool -gccgoflags -compiler",
    words: /-ext(?:ld|ar)/,
  },
  pytest: {
    letters: "pco",
    long: "--rootdir --confcutdir --override-ini --config-file --basetemp --pastebin --pdbcls",
  },
  ...repeatRow("mypy dmypy", { long: "--install-types --non-interactive" }),
  // Inline code, or a goal of another plugin than the one that builds.
  rake: { letters: "epE", long: "--execute --execute-print --execute-continue" },
  ...repeatRow("mvn mvnw", {
    words: /^exec:|^[\w.-]+:[\w.-]+:|^-D(?:exec|maven\.ext)\b|^-(?:s|gs|f|t|gt)$/,
    long: "--settings --global-settings --file --toolchains",
  }),
  ...repeatRow("gradle gradlew", {
    words: /^-[Ibcp]$|^-Dorg\.gradle\.java/,
    long: "--init-script --build-file --settings-file --project-dir --include-build",
  }),
  dotnet: {
    words: /^[-/]+(?:p|property|l|logger|dl|distributedlogger)[:=]/i,
    long: "--logger --additional-deps --additionalprobingpath",
  },
  cmake: {
    words:
      /^-[PCE]|^-D[^=]*(?:LAUNCHER|COMPILER|INCLUDE|TOOLCHAIN|COMMAND|PROGRAM|EXECUTABLE|LINKER)[\w:]*=|^[A-Z]+=/,
  },
  ctest: { letters: "S", long: "--script --build-and-test" },
  bazel: { long: "--run_under --bazelrc --override_repository" },
  prove: { letters: "eP", long: "--source" },
  deno: {
    letters: "A",
    words: /^--allow-(?:all|run|ffi|sys)/,
    long: "--preload --import --config --unstable",
  },
  tsc: { letters: "pb", long: "--project --outDir --outFile --build" },
  ...INTERPRETERS,
  ...repeatRow(
    "convert magick mogrify identify compare composite montage animate display import stream conjure",
    MAGICK,
  ),
  ffmpeg: {
    words: /^(?:async|cache|concat|concatf|crypto|data|fd|file|md5|pipe|subfile|tee|unix)[:,]/,
    long: "-f",
  },
  cpio: { letters: "FOI", long: "--rsh-command --file", words: ON_OTHER_MACHINE },
  mt: { letters: "f", words: ON_OTHER_MACHINE },
  gnuplot: { letters: "e", words: /^[<|]/ },
  tar: {
    words: ON_OTHER_MACHINE,
    letters: "IFgWCPT",
    long: "--files-from --to-command --use-compress-program --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command --directory --absolute-names --listed-incremental",
  },
  split: { long: "--filter" },
  rsync: {
    words: /^(?:[^-/:][^/:]*|\[[\da-f:]+\]):|^rsync:/i,
    letters: "eTM",
    long: "--rsh --rsync-path --remote-option --files-from --temp-dir",
  },
  zip: { long: "--unzip-command", words: /^-\w*TT/ },
  ssh: REMOTE,
  scp: { ...REMOTE, letters: "FSD" },
  sftp: { ...REMOTE, letters: "FSDb" },
  ...repeatRow("sshfs autossh ssh-copy-id", REMOTE),
  mosh: { long: "--ssh --client --server" },
  "ssh-keygen": { letters: "Dw" },
  "ssh-add": { letters: "sSe" },
  socat: { words: /(?:^|!!)(?:exec|system|shell|sctp-exec):|,(?:exec|system)=/i },
  ...repeatRow("nc ncat netcat", { letters: "ec", long: "--lua-exec" }),
  man: { letters: "CHPpTX", long: "--config-file --html --pager --preprocessor --troff-device --gxditview" },
  less: {
    letters: "kKoOtT",
    long: "--lesskey-file --lesskey-src --lesskey-content --log-file --LOG-FILE --tag",
    words: /^\+/,
  },
  more: { words: /^\+/ },
  ...repeatRow("vi vim nvim view ex gvim vimdiff rvim rview", {
    letters: "cSsuwWU",
    long: "--cmd --startuptime",
    words: /^\+/,
  }),
  emacs: { letters: "fl", long: "-batch -script --batch --load --eval --execute --funcall --script" },
  gdb: {
    letters: "x",
    long: "-ex -eval-command -iex --ex --eval-command --command --init-command --init-eval-command -ix",
  },
  lldb: {
    letters: "osOSkK",
    long: "--one-line --source --one-line-before-file --source-before-file --one-line-on-crash",
  },
  ...repeatRow("kak hx", { letters: "eEc" }),
  perf: { letters: "s", long: "--script" },
  ...repeatRow("ansible ansible-playbook ansible-console", {
    letters: "iMemaf",
    long: "--ssh-common-args --ssh-extra-args --sftp-extra-args --scp-extra-args --vault-password-file --vault-id --become-password-file --connection-password-file --module-path --inventory --extra-vars --module-name --args",
  }),
  pandoc: {
    letters: "FLd",
    long: "--filter --lua-filter --defaults --extract-media",
    words: /\.lua(?:[+-]\w+)*$/,
  },
  ...repeatRow("tex latex pdflatex xelatex lualatex pdftex luatex", {
    words: /^--?(?:shell-e|enable-w|write18)/,
  }),
  latexmk: { words: /^-(?:e|r|usepretex|pretex)|^-[a-z]*(?:latex|tex|view|dvi|ps|pdf)=/ },
  ...repeatRow("yt-dlp youtube-dl", {
    long: "--config-locations --plugin-dirs --ffmpeg-location --alias --external-downloader --downloader --batch-file",
  }),
  aria2c: { letters: "i", long: "--conf-path --input-file" },
  psql: { letters: "cfoL", long: "--command --file --output --log-file --set --variable" },
  ...repeatRow("mysql mariadb", {
    letters: "e",
    long: "--execute --init-command --pager --tee --plugin-dir --defaults-file --defaults-extra-file",
  }),
  ...repeatRow("sqlite3 duckdb", SQLITE),
  openssl: {
    only: /^-(?:in|inform|noout|text|subject|issuer|dates|enddate|startdate|checkend|fingerprint|serial|pubkey|modulus|hash|ext|purpose|email|nameopt|md5|sha\d+|connect|servername|showcerts|base64|a|d|e|v|hex|r)$/,
  },
  ...repeatRow("gcc g++ cc c++ clang clang++ gfortran gdc gnat gccgo flang mpicc mpicxx", COMPILER),
  ...repeatRow("opt llc clang-tidy", { long: "-load --load" }),
  ...repeatRow("rustc rustdoc", { letters: "Z", words: /linker/, long: "--runtool --test-builder --config" }),
  ...repeatRow("ghc ghci runghc", { words: /^-(?:e$|F$|pgm|fplugin|ghci-script)/ }),
  ...repeatRow("ocamlc ocamlopt ocamlfind", { long: "-pp -ppx" }),
  ...repeatRow("javac jar javadoc", { words: /^-J|^@|^-Xplugin|^--?proc/ }),
  wget: {
    letters: "eOPioa",
    long: "--execute --output-document --directory-prefix --input-file --output-file --use-askpass --config --post-file --body-file",
  },
  ...repeatRow("apt apt-get", { letters: "oc", long: "--option --config-file" }),
  nano: { letters: "s" },
  hg: { letters: "e", long: "--config --ssh --cwd --repository" },
  svn: { long: "--config-option --config-dir" },
  jj: { long: "--config --config-toml --config-file" },
  ...repeatRow("rpm rpmquery rpmbuild", { letters: "E", long: "--eval --pipe --define --load" }),
  dpkg: { long: "--pre-invoke --post-invoke --root --admindir --instdir" },
  fzf: { long: "--preview --bind" },
  bsdtar: { long: "--use-compress-program", letters: "C" },
  curl: {
    only: /^-(?:[sSfLiIvkgGN46#0123]+|[sSfLiIvkgGN46#]*[XHAmrdu].*|-(?:silent|show-error|fail|fail-with-body|location|include|head|verbose|insecure|get|globoff|compressed|no-progress-meter|progress-bar|http[\d.]+|ipv[46]|request|header|user-agent|max-time|connect-timeout|retry[a-z-]*|range|data|data-raw|json|user)(?:=.*)?)$/s,
    words: /^(?:-\w*[Hd]|--(?:data|json|header)=)?@/,
  },
};

/** Options of any program that start another one, by their names. */
export const STARTING_OPTION =
  /^--?(?:on-[\w-]+|[\w-]*(?:askpass|cmd|command|editor|entrypoint|exec|pager|program|rsh|shell|shell-escape|speller|wrapper))(?:=|$)|^-(?:-[\w-]+-|-?(?:load-(?:pass-)?|X)?)(?:browser|eval|executable|init-hook|pdf-engine|plugins?|viewer)(?:[=:]|$)/;

/** Version queries of programs that a project cannot make run something else first. */
const VERSIONS =
  /^(?:(?:node|npm|gcc|make|perl|php|ruby) -v|java -?-version|(?:bun|clang|cmake|curl|deno|docker|gcc|gh|make|node|npm|perl|php|pip3?|python3?|ruby) --version)$/;

/** Programs that a project cannot make run something else before they print `--version` or `--help`. */
const SELF_DESCRIBING = createSet(
  "ar as black c++ cc clang++ clang-format clang-tidy ctest ffmpeg ffprobe flake8 g++ gdb go gofmt isort java javac ld lldb meson mypy mysql ninja nm objdump pandoc patch pdftotext podman psql qemu-img redis-cli rsync ruff shellcheck sqlite3 strace tar tmux unzip valgrind wget zip",
);
/** What else is shown: packages that are installed, and the scripts of a project. */
const LISTINGS: Readonly<Record<string, OptionTable>> = {
  ...repeatRow("npm.ls npm.list npm.ll", {
    flags: "alp",
    texts: "",
    long: "all json long parseable depth= omit= include= link package-lock-only workspaces",
  }),
  ...repeatRow("npm.run npm.run-script", { long: "json" }),
  ...repeatRow("pip.list pip.freeze pip.check pip3.list pip3.freeze pip3.check", {
    flags: "l",
    long: "format= local not-required verbose exclude-editable all",
  }),
  ...repeatRow("pip.show pip3.show", { flags: "f", long: "files verbose" }),
};

/** What it shows is about the program itself, or about what is installed. */
function isSelfDescription(words: readonly Argument[], reach: Reach): boolean {
  const [program = "", option = ""] = words.map(({ value }) => value);
  const isAlone = words.length === 2;
  if (isAlone && VERSIONS.test(`${program} ${option}`)) return true;
  if (isAlone && /^--(?:version|help)$/.test(option) && SELF_DESCRIBING.has(program)) return true;
  if (isAlone && option === "version" && program === "go") return true;
  // A file of the project can choose another toolchain, a program of its own included.
  if (isAlone && /^(?:cargo|rustc|rustdoc) (?:--version|-V)$/.test(`${program} ${option}`)) {
    return !reach.hasFileAbove("rust-toolchain*");
  }
  const table = findRow(LISTINGS, `${program}.${option}`);
  if (table === undefined) return false;
  const { operands, findings } = readOptions(words, table, reach);
  const isPlain = operands.every(
    ({ value, isGlob, below }) => !isGlob && !below && /^[\w@/.-]+$/.test(value),
  );
  // The first one is the subcommand; any more would be a script to run.
  return findings.length === 0 && isPlain && (operands.length === 1 || /^(?:ls|list|ll|show)$/.test(option));
}

/** A program about which nothing is known, so it may do anything. */
export const judgeOther: ProgramReader = (words, reach) => {
  const program = words[0]?.value ?? "";
  const name = baseName(program);
  if (isSelfDescription(words, reach)) return [];
  const unknown = createUnknown(`\`${program}\` is not known to be read-only`);
  const deletes = listDeletedPaths(words.map(({ value }) => value));
  const findings: Finding[] = [deletes === null ? unknown : { ...unknown, deletes }];
  const deleting = name === "rm" ? words.findIndex(({ value }) => /^-(?:[a-zA-Z]*[rR]|-r)/.test(value)) : -1;
  // Nothing in the folder is left to be checked afterwards.
  if (deleting !== -1) {
    const what = "`rm -r` deletes whole folders";
    findings.push({ nature: "destructive", what, upTo: deleting, ...(deletes && { deletes }) });
  }
  return [...findings, ...judgeTaskWords(words, reach)];
};

/** Programs that delete what their operands name. */
const DELETING = createSet("rm rmdir unlink shred del erase");

/** What a program of these words deletes, as written; null if it is none that deletes. */
export function listDeletedPaths([program = "", ...words]: readonly string[]): string[] | null {
  if (!DELETING.has(baseName(program))) return null;
  const end = words.indexOf("--");
  return words.filter((word, at) => at !== end && (!word.startsWith("-") || (end !== -1 && at > end)));
}

/** The words with which a program does another task than the one that its first words say. */
function judgeTaskWords(words: readonly Argument[], reach: Reach): Finding[] {
  const findings: Finding[] = [];
  const name = baseName(words[0]?.value ?? "");
  // `python -m pytest` does what `pytest` does.
  const isModule = /^python[\d.]*$/.test(name) && words[1]?.value === "-m";
  const own = isModule ? (words[2]?.value ?? "") : name;
  const task = findRow(TASK_PROGRAMS, own.replace(/-?[\d.]+$/, "")) ?? findRow(TASK_PROGRAMS, own);
  let isEnded = false;
  let isOfScript = false;
  for (const [index, word] of addDash(words, own).entries()) {
    if (index < (isModule ? 3 : 1)) continue;
    if (word.value === "--") isEnded = true;
    if (!isOfScript && changesTask(word.value, isEnded, task)) {
      findings.push(createLaunch(`\`${name} ${word.value}\` can make it do something else`, index));
    }
    findings.push(...judgeOtherPath(word, index, reach));
    isOfScript ||= task?.hasScript === true && !word.value.startsWith("-");
  }
  return findings;
}

/** The letters in the first word of `tar` need none. */
function addDash(words: readonly Argument[], name: string): readonly Argument[] {
  const [program, letters, ...rest] = words;
  if (!name.endsWith("tar") || program === undefined || letters === undefined) return words;
  return [program, { ...letters, value: letters.value.replace(/^(?!-)/, "-") }, ...rest];
}

function judgeOtherPath(word: Argument, index: number, reach: Reach): Finding[] {
  if (/^file:/i.test(word.value))
    return [{ nature: "outside", what: `\`${word.value}\` is a file`, upTo: index, path: word.value }];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word.value)) return [];
  // Behind a `=` or an `@` there may be a file, and behind `--option=@` too.
  const named = /^(?:[\w.-]*[=@])*((?:~|\.\.|\/).*)$/s.exec(word.value)?.[1];
  const value =
    named === undefined
      ? (readAttachedValue(word) ?? { ...word, value: word.value.replace(/^\w+=/, "") })
      : { ...word, value: named };
  return judgePath(value, index, reach);
}

/** Perl, ImageMagick and others take such a file's name for a command. */
const OPENS_A_PIPE = /^\s*\||\|\s*$/;

function changesTask(word: string, isEnded: boolean, task: TaskProgram = {}): boolean {
  const { letters = "", long = "", words, only } = task;
  if (OPENS_A_PIPE.test(word)) return true;
  // After `--` there are no more options, but a setting of make is one there too.
  if (isEnded) return !word.startsWith("-") && words?.test(word) === true;
  if (
    STARTING_OPTION.test(word) ||
    words?.test(word) ||
    (only !== undefined && /^-./.test(word) && !only.test(word))
  )
    return true;
  const name = word.replace(/=.*/s, "");
  return (name !== "" && long.split(" ").includes(name)) || isOneOf(word, letters, long);
}
