import { HELP_OPTIONS, type NetworkRow } from "./network-row.ts";

const NPM_VALUES =
  "--prefix -C --dir --cwd --registry -w --workspace --filter -F --userconfig --cache --loglevel --tag --otp";

/** What all rows of a package manager share. */
function createPackageRow(of: string, programs: string, offline = ""): Omit<NetworkRow, "does" | "example"> {
  return { programs, goesTo: `registry ${of}`, offline: `${HELP_OPTIONS} ${offline}` };
}
const ASKS_REGISTRY = { isSending: true, does: "talks to the registry as you" };
const FETCHES_MISSING = { isPossible: true, does: "fetches packages that are missing" };
const FETCHES = { does: "fetches packages" };

/** Programs that fetch packages. Order matters: the first row that matches counts. */
export const PACKAGE_ROWS: readonly NetworkRow[] = [
  {
    ...createPackageRow("npm", "npm pnpm yarn bun", "--offline --dry-run"),
    subcommands: `install i in ins isntall ci clean-install add update upgrade up outdated dedupe create init dlx x audit
      view info show search import link ln install-test it`,
    values: NPM_VALUES,
    ...FETCHES,
    example: "npm install --save-dev typescript",
  },
  {
    ...createPackageRow("npm", "yarn", "--offline -v"),
    subcommands: "none",
    values: NPM_VALUES,
    ...FETCHES,
    example: "yarn --frozen-lockfile",
  },
  {
    ...createPackageRow("npm", "npm pnpm yarn bun", "--dry-run"),
    subcommands:
      "publish unpublish deprecate dist-tag owner access login logout adduser whoami token star team profile",
    values: NPM_VALUES,
    ...ASKS_REGISTRY,
    example: "npm publish --access public",
  },
  {
    ...createPackageRow("npm", "npm", "--offline"),
    subcommands: "exec",
    programsIn: "node_modules/.bin",
    ...FETCHES_MISSING,
    example: "npm exec -- tsc -p .",
  },
  {
    ...createPackageRow("npm", "npx bunx pnpx", "--no-install --no --offline"),
    programsIn: "node_modules/.bin",
    ...FETCHES_MISSING,
    example: "npx prettier --check .",
  },
  {
    ...createPackageRow("pip", "pip pip3", "--no-index"),
    subcommands: "install download wheel index search",
    ...FETCHES,
    example: "python3 -m pip install -r requirements.txt",
  },
  {
    ...createPackageRow("pip", "uv", "--offline freeze list show check tree"),
    subcommands: "pip add sync lock tool python build",
    ...FETCHES,
    example: "uv pip install flask",
  },
  {
    ...createPackageRow("pip", "poetry pdm hatch pipenv rye pipx"),
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
    ...createPackageRow("pip", "uv uvx pipx tox nox pdm hatch", "--offline list"),
    ...FETCHES_MISSING,
    example: "uvx ruff check",
  },
  {
    ...createPackageRow("conda", "conda mamba micromamba", "--offline"),
    subcommands: "install create update search env",
    ...FETCHES,
    example: "conda install numpy",
  },
  {
    ...createPackageRow("cargo", "cargo", "--offline"),
    subcommands: "fetch install add update search generate-lockfile info outdated audit",
    ...FETCHES,
    example: "cargo fetch",
  },
  {
    ...createPackageRow("cargo", "cargo", "--offline --frozen"),
    subcommands: "build b test t run r check c clippy doc bench tree metadata vendor",
    ...FETCHES_MISSING,
    example: "cargo build --release",
  },
  {
    ...createPackageRow("cargo", "cargo", "--dry-run"),
    subcommands: "publish yank login owner",
    ...ASKS_REGISTRY,
    example: "cargo publish",
  },
  {
    ...createPackageRow("go", "go", "edit graph init verify why"),
    subcommands: "get install mod",
    ...FETCHES,
    example: "go mod download",
  },
  {
    ...createPackageRow("go", "go"),
    subcommands: "build test run vet list generate work",
    ...FETCHES_MISSING,
    example: "go test ./...",
  },
  {
    ...createPackageRow("apt", "apt apt-get aptitude", "--no-download --print-uris -s"),
    subcommands: "update install upgrade full-upgrade dist-upgrade download source build-dep changelog",
    ...FETCHES,
    example: "sudo apt-get update",
  },
  {
    ...createPackageRow("system", "apk dnf yum zypper brew port snap flatpak nix nix-env nix-shell guix"),
    subcommands:
      "add update upgrade install in up fetch reinstall search refresh makecache build develop shell run flake pull",
    ...FETCHES,
    example: "apk add --no-cache git",
  },
  {
    ...createPackageRow("system", "pacman yay paru"),
    only: "-S -Sy -Syu -Su -Ss",
    ...FETCHES,
    example: "pacman -Syu",
  },
  {
    ...createPackageRow("gem", "gem bundle bundler", "--local"),
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
    ...createPackageRow("composer", "composer"),
    subcommands: "install i update u upgrade require r create-project outdated search show global",
    ...FETCHES,
    example: "composer install --no-dev",
  },
  {
    ...createPackageRow("maven", "mvn mvnw gradle gradlew sbt lein", "-o --offline"),
    ...FETCHES_MISSING,
    example: "mvn -B verify",
  },
  {
    ...createPackageRow("nuget", "dotnet nuget", "--no-restore"),
    subcommands: "restore add tool install build test run publish",
    ...FETCHES_MISSING,
    example: "dotnet restore",
  },
  {
    ...createPackageRow(
      "other",
      "mix rebar3 dart flutter swift pod stack cabal opam cpan cpanm luarocks helm terraform tofu vagrant",
    ),
    subcommands: `deps.get local.hex get pub package install update setup repo pull dependency init build add up
      archive.install`,
    ...FETCHES,
    example: "mix deps.get",
  },
  { ...createPackageRow("cpan", "cpan cpanm"), ...FETCHES, example: "cpanm --installdeps ." },
  {
    programs: "docker podman nerdctl buildah skopeo crane",
    subcommands: "pull push login search run build buildx compose create copy from",
    goesTo: "registry docker",
    offline: HELP_OPTIONS,
    isPossible: true,
    noProxy: true,
    does: "has a service fetch images, which uses that service's own network",
    example: "docker pull alpine:3",
  },
];
