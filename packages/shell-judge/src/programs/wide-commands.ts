import type { OptionTable } from "./options.ts";

/**
 * A command that "always" may cover with other arguments, because they cannot change what kind of thing it does. Its
 * words stand before the `*` of the rule. `$` stands for one plain word, such as a script's name, `$file` for a file of
 * the project, and `|` separates alternatives.
 */
export interface WideCommand {
  readonly words: string;
  /** The options that it may get. Without it all but those that the table of programs and `WIDENING` name. */
  readonly options?: OptionTable;
  /** What its other words are. */
  readonly operands: "paths" | "names" | "text" | "none" | "addresses";
  /** Words with which it does something of another kind. */
  readonly never?: string;
  readonly example: {
    readonly always: string;
    readonly covered: string;
    readonly asks: string;
  };
}

function row(
  words: string,
  operands: WideCommand["operands"],
  more: Pick<WideCommand, "options" | "never"> & { readonly example: readonly [string, string, string] },
): WideCommand {
  const [always, covered, asks] = more.example;
  return { words, operands, ...more, example: { always, covered, asks } };
}

/** Options of many programs that load code, write somewhere else, change what is checked, or reach another machine. */
export const WIDENING =
  /^(?:--?(?:conf(?:ig(?:uration|-?file)?)?|out(?:-?(?:put|file|dir|path))?|output-\w+|root-?dir|root|cwd|dir(?:ectory)?|prefix|require|import|loader|preload|plugins?|runner|env-file|globals?|global-?(?:setup|teardown)|setup-?files?(?:-?after-?env)?|test-?environment|transform|resolver|rules-?dir|resolve-plugins-relative-to|parser|fix(?:-\w+)?|write|update(?:-?snapshots?)?|inspect(?:-brk)?|publish|deploy|push|upload|remote|host(?:name)?|registry|token|allow-\w+|no-verify|force|delete)(?:=|$)|-[cou](?:=|$))/i;

const REACHING_GOALS = "install uninstall deploy publish release push upload distclean mrproper";
const GIT_NAMES = { flags: "qv", long: "quiet verbose" };

/** In this order: the first row that fits counts. */
export const WIDE_COMMANDS: readonly WideCommand[] = [
  row("git commit", "paths", {
    options: {
      flags: "aqvs",
      texts: "m",
      files: "F",
      long: "all quiet verbose signoff message=~ file=@ author=~ date=~ allow-empty no-edit trailer=~",
    },
    example: ["git commit -m one", "git commit -am 'two: three'", "git commit --no-verify -m one"],
  }),
  row("git add", "paths", {
    options: { flags: "Auvn", long: "all update verbose dry-run intent-to-add" },
    example: ["git add src/a.ts", "git add -A docs", "git add -f .env"],
  }),
  row("git stash push", "paths", {
    options: { flags: "uqk", texts: "m", long: "include-untracked quiet keep-index message=~" },
    example: ["git stash push -m one", "git stash push -u -m two", "git stash push --pathspec-from-file=a"],
  }),
  row("git checkout|switch -b|-c|--create", "names", {
    options: GIT_NAMES,
    example: ["git checkout -b one", "git checkout -b two origin/main", "git checkout -b one -f"],
  }),
  row("git fetch|pull", "names", {
    options: {
      flags: "qvptr",
      long: "quiet verbose prune tags no-tags all rebase no-rebase ff-only ff autostash depth= jobs= unshallow",
    },
    example: ["git fetch origin", "git fetch --prune upstream main", "git fetch https://example.org/a"],
  }),
  row("git merge|cherry-pick|revert", "names", {
    options: { flags: "qvnx", long: "quiet no-ff ff-only no-commit no-edit abort continue" },
    example: ["git merge topic", "git merge --no-ff other", "git merge -s ours other"],
  }),
  row("git tag", "names", {
    options: {},
    example: ["git tag v1.0.0", "git tag v1.1.0 abc1234", "git tag -d v1.0.0"],
  }),
  row("git mv", "paths", {
    options: { flags: "vkn", long: "verbose dry-run" },
    example: ["git mv a.ts b.ts", "git mv c.ts src/c.ts", "git mv -f a.ts b.ts"],
  }),
  row("npm|pnpm|yarn|bun test|t|start", "text", {
    example: ["npm test", "npm test -- src/a.test.ts -t name", "npm test --script-shell=./x"],
  }),
  row("npm|pnpm|yarn|bun run|run-script $", "text", {
    example: ["npm run lint", "npm run lint -- src", "npm run deploy"],
  }),
  row("yarn|pnpm build|lint|check|format|typecheck", "text", {
    example: ["yarn build", "yarn build --mode production", "yarn build --config x.js"],
  }),
  row("npm|pnpm|yarn|bun ci|install|i", "none", {
    options: {
      long: "no-audit no-fund ignore-scripts prefer-offline legacy-peer-deps frozen-lockfile immutable silent no-progress loglevel= omit= include=",
    },
    example: ["npm ci", "npm ci --no-audit", "npm ci left-pad"],
  }),
  row("deno test|check|lint|task", "text", { example: ["deno test", "deno test src/a.ts", "deno test -A"] }),
  row(
    "npx|bunx vitest|jest|mocha|ava|tap|eslint|tsc|vue-tsc|biome|playwright|cypress|svelte-check|stylelint",
    "text",
    {
      example: ["npx vitest run", "npx vitest run src/a.test.ts", "npx vitest run --config x.ts"],
    },
  ),
  row("vitest|jest|mocha|ava|tap|eslint|tsc|biome|stylelint", "text", {
    example: ["eslint src", "eslint --max-warnings 0 test", "eslint --fix src"],
  }),
  row("prettier --check|-c|--list-different|-l", "paths", {
    example: ["prettier --check src", "prettier --check docs", "prettier --check src --write"],
  }),
  row("prettier --write|-w", "paths", {
    options: { long: "log-level= ignore-unknown" },
    example: ["prettier --write src", "prettier --write docs/a.md", "prettier --write ../x"],
  }),
  row("npx tsx|ts-node $file", "text", {
    example: ["npx tsx src/cli.ts", "npx tsx src/cli.ts --help", "npx tsx -e CODE"],
  }),
  row("npx prettier --check|-c|--list-different|-l", "paths", {
    example: ["npx prettier --check src", "npx prettier --check docs", "npx prettier --check src --write"],
  }),
  row("npx prettier --write|-w", "paths", {
    options: { long: "log-level= ignore-unknown" },
    example: ["npx prettier --write src", "npx prettier --write docs/a.md", "npx prettier --write ../x"],
  }),
  row("node --test", "paths", {
    example: ["node --test a.test.js", "node --test --test-name-pattern=x b.test.js", "node --test -e x"],
  }),
  row("pytest|mypy|flake8|pylint|pyright", "text", {
    example: ["pytest", "pytest -x tests/test_a.py -k name", "pytest -p evil"],
  }),
  row("python|python3 -m pytest|unittest|mypy|flake8|pylint|compileall|doctest", "text", {
    example: ["python3 -m pytest", "python3 -m pytest tests/test_b.py -q", "python3 -m pytest -p evil"],
  }),
  row("ruff check|format", "text", {
    example: ["ruff check .", "ruff check src --select E", "ruff check --fix ."],
  }),
  row("uv|poetry|pdm|pipenv|hatch run pytest|mypy|ruff|flake8|pylint", "text", {
    example: ["poetry run pytest", "poetry run pytest -k name", "poetry run pytest -c x.ini"],
  }),
  row("tox|nox", "text", { example: ["tox -e py312", "tox -e py313", "tox --workdir /tmp/x"] }),
  row("cargo build|b|test|t|check|c|clippy|bench|doc|nextest", "text", {
    example: ["cargo test", "cargo test --workspace name -- --nocapture", "cargo test --config x.toml"],
  }),
  row("go test|build|vet", "text", {
    example: ["go test ./...", "go test -run Name ./pkg", "go test -exec x ./..."],
  }),
  row("make|gmake", "names", {
    options: {
      flags: "kiBsnwqr",
      attached: "jlO",
      long: "jobs keep-going silent quiet always-make output-sync no-print-directory dry-run",
    },
    never: REACHING_GOALS,
    example: ["make -j2", "make -j4 test", "make install"],
  }),
  row("cmake --build", "text", {
    example: ["cmake --build build", "cmake --build build -j4", "cmake --build build -- A=b"],
  }),
  row("ctest|ninja|meson", "text", {
    never: REACHING_GOALS,
    example: ["ctest --test-dir build", "ctest --test-dir build -R name", "ctest -S x.cmake"],
  }),
  row("mvn|./mvnw|mvnw test|verify|package|compile", "none", {
    example: ["mvn test", "mvn test -Dtest=Name", "mvn test deploy"],
  }),
  row("mvn|./mvnw -B|-q|--batch-mode test|verify|package|compile", "none", {
    example: ["mvn -B verify", "mvn -B verify -DskipITs", "mvn -B verify deploy"],
  }),
  row("gradle|./gradlew|gradlew test|build|check|assemble", "none", {
    example: ["./gradlew test", "./gradlew test --info", "./gradlew test publish"],
  }),
  row("dotnet test|build", "text", {
    example: ["dotnet test", "dotnet test --filter Name", "dotnet test -l:x.dll"],
  }),
  row("bundle exec rspec|rubocop|minitest", "text", {
    example: [
      "bundle exec rspec",
      "bundle exec rspec spec/a_spec.rb",
      "bundle exec rspec -r ./x.rb --require x",
    ],
  }),
  row("rspec|rubocop|phpunit|./vendor/bin/phpunit|vendor/bin/phpunit|phpstan|busted", "text", {
    example: ["phpunit", "phpunit tests/ATest.php", "phpunit --bootstrap=/tmp/x.php -c x"],
  }),
  row("composer test", "text", {
    example: ["composer test", "composer test -- --filter Name", "composer test -- -c x"],
  }),
  row("composer|deno run|run-script|task $", "text", {
    example: ["composer run lint", "composer run lint -- src", "composer run publish"],
  }),
  row("mix|swift|flutter|dart|stack|cabal|zig test|build|analyze|compile", "text", {
    example: ["mix test", "mix test test/a_test.exs", "mix test --require x"],
  }),
  row("mkdir", "paths", {
    options: { flags: "pv", long: "parents verbose" },
    example: ["mkdir -p build", "mkdir -p dist/a", "mkdir -p /opt/x"],
  }),
  row("touch", "paths", {
    options: { flags: "acm", long: "no-create" },
    example: ["touch a.txt", "touch src/b.txt", "touch .envrc"],
  }),
  row("docker|podman compose ps|logs|up|build|config", "names", {
    options: {
      flags: "dfat",
      values: "n",
      long: "detach follow tail= build wait no-color timestamps quiet-pull",
    },
    example: ["docker compose up -d", "docker compose up -d db", "docker compose up --scale web=50"],
  }),
  row("docker|podman ps|images|logs|inspect|top|port", "names", {
    options: {
      flags: "afqt",
      values: "n",
      texts: "",
      long: "all follow tail= format=~ filter=~ since= until= quiet no-trunc",
    },
    example: ["docker logs web", "docker logs -f --tail 20 db", "docker logs --host x"],
  }),
  row("gh pr|issue|run|release|workflow list|view|status|checks|diff", "text", {
    options: {
      flags: "c",
      values: "LsbAlSt",
      texts: "qJ",
      long: "limit= state= label= author=~ assignee=~ search=~ json= jq=~ comments log log-failed",
    },
    example: ["gh pr view 12", "gh pr view 13 --comments", "gh pr view --repo a/b 1"],
  }),
  row("node|nodejs|tsx|python|python3|ruby|php|perl|lua|bash|sh|zsh $file", "text", {
    never: REACHING_GOALS,
    example: ["node scripts/build.js", "node scripts/build.js --watch a", "node scripts/build.js --publish"],
  }),
  row("curl", "addresses", {
    example: [
      "curl http://127.0.0.1:3000/a",
      "curl -s -X POST -d a=b http://127.0.0.1:8080/b",
      "curl http://127.0.0.1:3000/a https://example.org",
    ],
  }),
];
