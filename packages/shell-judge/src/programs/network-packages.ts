import { HELP, type NetworkRow } from "./network-row.ts";

const NPM_VALUES =
  "--prefix -C --dir --cwd --registry -w --workspace --filter -F --userconfig --cache --loglevel --tag --otp";

/** What all rows of a package manager share. */
function packages(of: string, programs: string, offline = ""): Omit<NetworkRow, "does" | "example"> {
  return { programs, goesTo: `registry ${of}`, offline: `${HELP} ${offline}` };
}
const ASKS_REGISTRY = { isSending: true, does: "talks to the registry as you" };
const MISSING = { isPossible: true, does: "fetches packages that are missing" };
const FETCHES = { does: "fetches packages" };

/** Programs that fetch packages. In this order: the first row that fits counts. */
export const PACKAGE_ROWS: readonly NetworkRow[] = [
  {
    ...packages("npm", "npm pnpm yarn bun", "--offline --dry-run"),
    subcommands: `install i in ins isntall ci clean-install add update upgrade up outdated dedupe create init dlx x audit
      view info show search import link ln install-test it`,
    values: NPM_VALUES,
    ...FETCHES,
    example: "npm install --save-dev typescript",
  },
  {
    ...packages("npm", "yarn", "--offline -v"),
    subcommands: "none",
    values: NPM_VALUES,
    ...FETCHES,
    example: "yarn --frozen-lockfile",
  },
  {
    ...packages("npm", "npm pnpm yarn bun", "--dry-run"),
    subcommands:
      "publish unpublish deprecate dist-tag owner access login logout adduser whoami token star team profile",
    values: NPM_VALUES,
    ...ASKS_REGISTRY,
    example: "npm publish --access public",
  },
  {
    ...packages("npm", "npm", "--offline"),
    subcommands: "exec",
    ...MISSING,
    example: "npm exec -- tsc -p .",
  },
  {
    ...packages("npm", "npx bunx pnpx", "--no-install --no --offline"),
    ...MISSING,
    example: "npx prettier --check .",
  },
  {
    ...packages("pip", "pip pip3", "--no-index"),
    subcommands: "install download wheel index search",
    ...FETCHES,
    example: "python3 -m pip install -r requirements.txt",
  },
  {
    ...packages("pip", "uv", "--offline freeze list show check tree"),
    subcommands: "pip add sync lock tool python build",
    ...FETCHES,
    example: "uv pip install flask",
  },
  {
    ...packages("pip", "poetry pdm hatch pipenv rye pipx"),
    subcommands: "install add update lock sync upgrade",
    ...FETCHES,
    example: "poetry install --no-root",
  },
  {
    programs: "poetry pdm hatch twine flit uv",
    subcommands: "publish upload",
    goesTo: "registry pip",
    ...ASKS_REGISTRY,
    example: "twine upload dist/a.whl",
  },
  {
    ...packages("pip", "uv uvx pipx tox nox pdm hatch", "--offline list"),
    ...MISSING,
    example: "uvx ruff check",
  },
  {
    ...packages("conda", "conda mamba micromamba", "--offline"),
    subcommands: "install create update search env",
    ...FETCHES,
    example: "conda install numpy",
  },
  {
    ...packages("cargo", "cargo", "--offline"),
    subcommands: "fetch install add update search generate-lockfile info outdated audit",
    ...FETCHES,
    example: "cargo fetch",
  },
  {
    ...packages("cargo", "cargo", "--offline --frozen"),
    subcommands: "build b test t run r check c clippy doc bench tree metadata vendor",
    ...MISSING,
    example: "cargo build --release",
  },
  {
    ...packages("cargo", "cargo", "--dry-run"),
    subcommands: "publish yank login owner",
    ...ASKS_REGISTRY,
    example: "cargo publish",
  },
  {
    ...packages("go", "go", "edit graph init verify why"),
    subcommands: "get install mod",
    ...FETCHES,
    example: "go mod download",
  },
  {
    ...packages("go", "go"),
    subcommands: "build test run vet list generate work",
    ...MISSING,
    example: "go test ./...",
  },
  {
    ...packages("apt", "apt apt-get aptitude", "--no-download --print-uris -s"),
    subcommands: "update install upgrade full-upgrade dist-upgrade download source build-dep changelog",
    ...FETCHES,
    example: "sudo apt-get update",
  },
  {
    ...packages("system", "apk dnf yum zypper brew port snap flatpak nix nix-env nix-shell guix"),
    subcommands:
      "add update upgrade install in up fetch reinstall search refresh makecache build develop shell run flake pull",
    ...FETCHES,
    example: "apk add --no-cache git",
  },
  {
    ...packages("system", "pacman yay paru"),
    only: "-S -Sy -Syu -Su -Ss",
    ...FETCHES,
    example: "pacman -Syu",
  },
  {
    ...packages("gem", "gem bundle bundler", "--local"),
    subcommands: "none install update add outdated fetch lock",
    ...FETCHES,
    example: "bundle install --jobs 4",
  },
  {
    programs: "gem",
    subcommands: "push yank owner signin",
    goesTo: "registry gem",
    ...ASKS_REGISTRY,
    example: "gem push a.gem",
  },
  {
    ...packages("composer", "composer"),
    subcommands: "install i update u upgrade require r create-project outdated search show global",
    ...FETCHES,
    example: "composer install --no-dev",
  },
  {
    ...packages("maven", "mvn mvnw gradle gradlew sbt lein", "-o --offline"),
    ...MISSING,
    example: "mvn -B verify",
  },
  {
    ...packages("nuget", "dotnet nuget", "--no-restore"),
    subcommands: "restore add tool install build test run publish",
    ...MISSING,
    example: "dotnet restore",
  },
  {
    ...packages(
      "other",
      "mix rebar3 dart flutter swift pod stack cabal opam cpan cpanm luarocks helm terraform tofu vagrant",
    ),
    subcommands: `deps.get local.hex get pub package install update setup repo pull dependency init build add up
      archive.install`,
    ...FETCHES,
    example: "mix deps.get",
  },
  { ...packages("cpan", "cpan cpanm"), ...FETCHES, example: "cpanm --installdeps ." },
  {
    programs: "docker podman nerdctl buildah skopeo crane",
    subcommands: "pull push login search run build buildx compose create copy from",
    goesTo: "registry docker",
    offline: HELP,
    isPossible: true,
    noProxy: true,
    does: "has a service fetch images, which uses that service's own network",
    example: "docker pull alpine:3",
  },
];
