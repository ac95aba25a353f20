import { createWideRow as row, type WideCommand } from "./wide-row.ts";

const REACHING_GOALS = "install uninstall deploy publish release push upload distclean mrproper";
const GIT_NAMES = { flags: "qv", long: "quiet verbose" };

/** The commands that "always" may cover with other arguments. The first matching row counts. */
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
  row("git stash", "names", {
    options: { flags: "uqk", texts: "m", long: "include-untracked quiet keep-index index message=~" },
    never: "drop clear branch store create import export save",
    example: ["git stash", "git stash pop", "git stash clear"],
  }),
  row("git branch -d|--delete", "names", {
    options: GIT_NAMES,
    example: ["git branch -d one", "git branch -d two", "git branch -d -f two"],
  }),
  row("git submodule update", "paths", {
    options: { long: "init recursive quiet depth= jobs= progress no-fetch" },
    example: [
      "git submodule update --init",
      "git submodule update --init --recursive",
      "git submodule update --remote",
    ],
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
  row("npm run|run-script -w|--workspace $ $", "text", {
    example: [
      "npm run -w packages/a build",
      "npm run -w packages/a build -- --debug",
      "npm run -w packages/a deploy",
    ],
  }),
  row("pnpm --filter|-F $ build|test|dev|start|lint|check|format|typecheck", "text", {
    example: ["pnpm --filter web dev", "pnpm --filter web dev --port 1", "pnpm --filter web exec sh"],
  }),
  row("yarn workspace $ build|test|dev|start|lint|check|format|typecheck", "text", {
    example: ["yarn workspace web test", "yarn workspace web test -t name", "yarn workspace web exec sh"],
  }),
  row("pnpm -r|--recursive build|test|lint|check|format|typecheck", "text", {
    example: ["pnpm -r build", "pnpm -r build --stream", "pnpm -r publish"],
  }),
  row("npm|pnpm|yarn audit|outdated|ls|list|why", "names", {
    options: {
      flags: "ag",
      long: "all json long depth= omit= include= prod dev parseable production audit-level=",
    },
    never: "fix",
    example: ["npm audit", "npm audit --omit=dev", "npm audit fix"],
  }),
  row("npm|pnpm pack", "none", {
    options: { long: "dry-run json" },
    example: ["npm pack --dry-run", "npm pack --dry-run --json", "npm pack left-pad"],
  }),
  row("npm|pnpm|yarn|bun test|t|start", "text", {
    example: ["npm test", "npm test -- src/a.test.ts -t name", "npm test --script-shell=./x"],
  }),
  row("npm|pnpm|yarn|bun run|run-script $", "text", {
    example: ["npm run lint", "npm run lint -- src", "npm run deploy"],
  }),
  row("yarn|pnpm build|lint|check|format|typecheck|dev|preview", "text", {
    example: ["yarn build", "yarn build --mode production", "yarn build --config x.js"],
  }),
  row("npm|pnpm|yarn|bun ci|install|i", "none", {
    options: {
      long: "no-audit no-fund ignore-scripts prefer-offline legacy-peer-deps frozen-lockfile immutable silent no-progress loglevel= omit= include=",
    },
    example: ["npm ci", "npm ci --no-audit", "npm ci left-pad"],
  }),
  row("deno fmt", "paths", {
    options: { long: "check" },
    example: ["deno fmt", "deno fmt src", "deno fmt --config x.json"],
  }),
  row("deno test|check|lint|task", "text", { example: ["deno test", "deno test src/a.ts", "deno test -A"] }),
  row("npx|bunx|pnpm turbo run $", "text", {
    example: ["npx turbo run build", "npx turbo run build --filter web", "npx turbo run deploy"],
  }),
  row("turbo|lerna run $", "text", {
    example: ["turbo run test", "turbo run test --parallel", "turbo run test --cwd /srv/x"],
  }),
  row("npx|bunx prisma generate|validate|format", "text", {
    example: ["npx prisma generate", "npx prisma generate --schema a.prisma", "npx prisma migrate reset"],
  }),
  row("npx|bunx vite|next|astro|nuxt|tsup|rollup|webpack|parcel|typedoc", "text", {
    never: `${REACHING_GOALS} add upgrade module`,
    example: ["npx vite build", "npx vite build --mode staging", "npx vite build --config /srv/x"],
  }),
  row("eslint|stylelint --fix", "paths", {
    options: { long: "ext= quiet cache max-warnings=" },
    example: ["eslint --fix src", "eslint --fix lib", "eslint --fix --rulesdir ./x lib"],
  }),
  row("npx|bunx eslint|stylelint --fix", "paths", {
    options: { long: "ext= quiet cache max-warnings=" },
    example: ["npx eslint --fix src", "npx eslint --fix lib", "npx eslint --fix --rulesdir ./x lib"],
  }),
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
  row("python|python3 -m build|black|isort|ruff|tox|nox", "text", {
    example: ["python3 -m build", "python3 -m build --wheel", "python3 -m build --outdir /srv"],
  }),
  row(
    "python|python3 manage.py test|check|migrate|makemigrations|showmigrations|runserver|collectstatic",
    "text",
    {
      example: ["python manage.py test", "python manage.py test app.tests", "python manage.py flush"],
    },
  ),
  row("php artisan test|migrate|serve|route:list", "text", {
    example: ["php artisan test", "php artisan test --group a", "php artisan tinker"],
  }),
  row("rails|bin/rails|./bin/rails test|routes|db:migrate", "text", {
    example: ["bin/rails test", "bin/rails test test/models", "bin/rails runner CODE"],
  }),
  row("black|isort", "paths", {
    options: {
      flags: "qvl",
      long: "check check-only diff quiet verbose line-length= profile= target-version= include=~ exclude=~",
    },
    example: ["black .", "black --check src", "black --config x.toml src"],
  }),
  row("ruff check --fix", "paths", {
    options: { flags: "qv", long: "quiet verbose select= ignore= exclude=~" },
    example: ["ruff check --fix .", "ruff check --fix src", "ruff check --fix --config x src"],
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
  row("cargo fmt", "text", {
    example: ["cargo fmt --all", "cargo fmt -- --check", "cargo fmt -- --config-path /srv/x"],
  }),
  row("cargo run|r", "text", {
    example: ["cargo run --example a", "cargo run --example b -- -v", "cargo run --config x.toml"],
  }),
  row("go run $folder", "text", {
    example: ["go run ./cmd/app", "go run ./cmd/app -v", "go run example.org/evil@latest"],
  }),
  row("gofmt -w|-l|-d", "paths", {
    options: { flags: "lds" },
    example: ["gofmt -w .", "gofmt -w cmd", "gofmt -w -r x cmd"],
  }),
  row("golangci-lint run", "text", {
    example: ["golangci-lint run", "golangci-lint run ./pkg/...", "golangci-lint run -c /srv/x.yml"],
  }),
  row("go test|build|vet|generate", "text", {
    example: ["go test ./...", "go test -run Name ./pkg", "go test -exec x ./..."],
  }),
  row("make|gmake -C|--directory $", "names", {
    options: { flags: "kiBsnwqr", attached: "jlO", long: "jobs keep-going silent quiet dry-run" },
    never: REACHING_GOALS,
    example: ["make -C docs html", "make -C docs linkcheck", "make -C docs install"],
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
  row("mvn|./mvnw|mvnw clean test|verify|package|compile|install", "none", {
    example: ["mvn clean install", "mvn clean install -DskipTests", "mvn clean deploy"],
  }),
  row("mvn|./mvnw|mvnw test|verify|package|compile|test-compile|validate", "none", {
    example: ["mvn test", "mvn test -Dtest=Name", "mvn test deploy"],
  }),
  row("mvn|./mvnw -B|-q|--batch-mode test|verify|package|compile", "none", {
    example: ["mvn -B verify", "mvn -B verify -DskipITs", "mvn -B verify deploy"],
  }),
  row("gradle|./gradlew|gradlew clean test|build|check|assemble", "none", {
    options: {
      flags: "iqsS",
      texts: "x",
      long: "tests=~ info debug stacktrace no-daemon daemon parallel offline continue rerun-tasks console= warning-mode= build-cache",
    },
    example: ["./gradlew clean build", "./gradlew clean build --info", "./gradlew clean publish"],
  }),
  row("gradle|./gradlew|gradlew test|build|check|assemble|assembleDebug|assembleRelease|lint|jar", "none", {
    options: {
      flags: "iqsS",
      texts: "x",
      long: "tests=~ info debug stacktrace no-daemon daemon parallel offline continue rerun-tasks console= warning-mode= build-cache",
    },
    example: ["./gradlew test", "./gradlew test --info", "./gradlew test publish"],
  }),
  row("dotnet test|build", "paths", {
    options: {
      values: "cfrv",
      long: "configuration= framework= no-restore no-build nologo verbosity= filter=~",
    },
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
  row("docker|podman compose down|stop|restart|pull", "names", {
    options: { values: "t", long: "remove-orphans timeout= quiet" },
    example: ["docker compose down", "docker compose down --remove-orphans", "docker compose down -v"],
  }),
  row("docker|podman build", "paths", {
    options: {
      flags: "q",
      texts: "t",
      files: "f",
      long: "tag=~ file=@ no-cache pull target= build-arg=~ platform=~ progress= quiet",
    },
    example: [
      "docker build -t a .",
      "docker build -t a:dev -f b/Dockerfile .",
      "docker build https://example.org/x.git",
    ],
  }),
  row("docker|podman run --rm $", "text", {
    example: ["docker run --rm a", "docker run --rm a --version", "docker run --rm -v /:/host a"],
  }),
  row("terraform|tofu fmt|validate", "paths", {
    example: ["terraform fmt", "terraform fmt -recursive", "terraform fmt -write ../x"],
  }),
  row("bundle exec rake test|spec|lint", "none", {
    example: ["bundle exec rake test", "bundle exec rake test --verbose", "bundle exec rake test release"],
  }),
  row("chmod +x|u+x|a+x", "paths", {
    options: { flags: "v" },
    example: ["chmod +x a.sh", "chmod +x scripts/b.sh", "chmod +x -R ."],
  }),
  row("docker|podman compose ps|logs|up|build|config", "names", {
    options: {
      flags: "dfat",
      values: "n",
      long: "detach follow tail= build wait no-color timestamps quiet-pull no-cache pull progress=",
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
