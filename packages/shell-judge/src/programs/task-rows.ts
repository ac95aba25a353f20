import { repeatRow } from "../tables.ts";

/** Options that turn a program which was allowed for one task to another task. */
export interface TaskProgram {
  readonly letters?: string;
  /** Names of options, one word each. */
  readonly long?: string;
  /** Other words with such an effect, for example settings of make. */
  readonly words?: RegExp;
  /** The only harmless options, for programs most of whose options write, load or send something. */
  readonly only?: RegExp;
  /** The names of more harmless options. A long one may have a value behind `=`. */
  readonly harmless?: string;
  /** What a `:` behind it gives a meaning of its own. */
  readonly schemes?: string;
  /** The first word that is not an option is a script, and what follows belongs to that. */
  readonly hasScript?: boolean;
}

const NPM: TaskProgram = {
  letters: "Cc",
  long: `
    --prefix --script-shell --node-options --userconfig --globalconfig --shell --editor --call --dir
    --cwd --npm-path --pnpmfile --global-pnpmfile --use-yarnrc --git`,
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
const createInterpreter = (only: RegExp, harmless = ""): TaskProgram => ({
  only,
  harmless,
  words: /^-$/,
  hasScript: true,
});
const INTERPRETERS: Readonly<Record<string, TaskProgram>> = {
  ...repeatRow(
    "node nodejs tsx",
    createInterpreter(
      /^-[cC]$/,
      `--test --test-name-pattern --test-skip-pattern --test-only --test-timeout --test-concurrency
      --test-force-exit --test-shard --test-update-snapshots --check --watch --watch-preserve-output
      --enable-source-maps --no-warnings --trace-warnings --trace-deprecation --unhandled-rejections
      --max-old-space-size --stack-trace-limit --throw-deprecation --pending-deprecation
      --preserve-symlinks --experimental-strip-types --experimental-vm-modules
      --experimental-test-coverage --experimental-test-module-mocks --experimental-json-modules
      --experimental-default-type --experimental-transform-types --conditions`,
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
  words: /^(?:[\w-]+:)?[|@]/,
  schemes: `
    clipboard delegate ephemeral fd ftp gs http https ldap magick-script msl mvg pango postscript print scan
    screenshot script show svg text url vid win x`,
  long: "-script -write -path -profile -remote -launch",
};
/** A colon in an archive's name puts the archive on another machine. */
const ON_OTHER_MACHINE = /^(?:-\w*f|--file=)?[^/=-][^/=]*:|^--file=[^/]*:/;
export const TASK_PROGRAMS: Readonly<Record<string, TaskProgram>> = {
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
    long: `
      --files-from --to-command --use-compress-program --checkpoint-action --info-script
      --new-volume-script --rsh-command --rmt-command --directory --absolute-names --listed-incremental`,
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
    long: `
      --ssh-common-args --ssh-extra-args --sftp-extra-args --scp-extra-args --vault-password-file
      --vault-id --become-password-file --connection-password-file --module-path --inventory
      --extra-vars --module-name --args`,
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
    only: /^-sha\d+$/,
    harmless: `
      -in -inform -noout -text -subject -issuer -dates -enddate -startdate -checkend -fingerprint -serial
      -pubkey -modulus -hash -ext -purpose -email -nameopt -md5 -connect -servername -showcerts -base64
      -a -d -e -v -hex -r`,
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
    only: /^-(?:[sSfLiIvkgGN46#0123]+|[sSfLiIvkgGN46#]*[XHAmrdu].*|-(?:http[\d.]+|retry[a-z-]*)(?:=.*)?)$/s,
    harmless: `
      --silent --show-error --fail --fail-with-body --location --include --head --verbose --insecure --get
      --globoff --compressed --no-progress-meter --progress-bar --ipv4 --ipv6 --request --header
      --user-agent --max-time --connect-timeout --range --data --data-raw --json --user`,
    words: /^(?:-\w*[Hd]|--(?:data|json|header)=)?@/,
  },
};

/** Options of any program that start another one, by their names, each with an example. */
export const STARTING_OPTIONS: readonly (readonly [option: RegExp, example: string])[] = [
  [/^--?on-[\w-]+(?:=|$)/, "--on-change=x"],
  [/^--?[\w-]*(?:askpass|cmd|command|editor|entrypoint|exec)(?:=|$)/, "--use-askpass=x"],
  [/^--?[\w-]*(?:pager|program|rsh|shell|shell-escape|speller|wrapper)(?:=|$)/, "--python-program"],
  [/^-(?:-[\w-]+-|-?(?:load-(?:pass-)?|X)?)(?:browser|eval|executable)(?:[=:]|$)/, "--python-executable"],
  [/^-(?:-[\w-]+-|-?(?:load-(?:pass-)?|X)?)(?:init-hook|pdf-engine)(?:[=:]|$)/, "--pdf-engine=x"],
  [/^-(?:-[\w-]+-|-?(?:load-(?:pass-)?|X)?)(?:plugins?|viewer)(?:[=:]|$)/, "-load-pass-plugin=x.so"],
];
