import { describe, expect, it } from "vitest";
import { judgeCommand } from "../command-policy.ts";

const rules = { allow: [], ask: [], deny: [] };
const judged = (command: string, files: readonly string[] = []) => {
  const realPaths = (path: string) => files.filter((file) => file.startsWith(path.replace(/\*$/, "")));
  const place = { root: "/project", directory: "/project/a/b", realPaths, repositoryFault: () => null };
  return judgeCommand({ command, mode: "default", rules, place });
};

describe("reading", () => {
  it.each([
    "npm ls",
    "npm ls --depth=0 --all",
    "npm ls lodash",
    "npm run",
    "npm run --json",
    "pip list",
    "pip list --format=json",
    "pip freeze",
    "pip show flask",
    "git fsck",
    "git fsck --full --no-dangling",
    "git submodule",
    "git submodule status",
    "git submodule status --cached",
    "git apply --check a.patch",
    "git apply --stat a.patch",
    "git clean -nd",
    "git clean -n -x",
    "git clean --dry-run -d src",
    "cargo --version",
    "rustc -V",
    "go version",
    "ruff --version",
    "rsync --help",
    "java --version",
    "mypy --version",
  ])("P22 runs unasked, and is limited to that: %s", (command) => {
    expect(judged(command)).toMatchObject({ verdict: "allow", reads: "wholly" });
  });

  it.each([
    "npm run build",
    "npm ls --prefix /srv",
    "npm ls --userconfig x",
    "npm run --script-shell=x",
    "pip list --outdated",
    "pip list --log x",
    "python3 -m pip list",
    "pnpm ls",
    "yarn list",
    "make -n",
    "git fsck --lost-found",
    "git submodule update",
    "git submodule foreach ls",
    "git submodule -q foreach ls",
    "git submodule status --recursive",
    "git apply a.patch",
    "git apply",
    "git apply --check --apply a.patch",
    "git apply --check /etc/a.patch",
    "git clean -d",
    "git clean -fd",
    "git clean",
    "git clean -i -n",
    "git clean -ni",
    "ruff --version x",
    "pytest --version",
  ])("P21 asks where it could do more: %s", (command) => {
    expect(judged(command).verdict).toBe("ask");
  });

  it("P21 of a toolchain asks where the project chooses it", () => {
    expect(judged("cargo --version", ["/project/rust-toolchain.toml"]).verdict).toBe("ask");
    expect(judged("cargo --version", ["/project/a/b/rust-toolchain"]).verdict).toBe("ask");
    expect(judged("cargo --version", ["/other/rust-toolchain"]).verdict).toBe("allow");
  });
});
