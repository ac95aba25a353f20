import { describe, expect, it } from "vitest";
import { findNetworkRequirements } from "./network-needs.ts";
import { NETWORK_ROWS } from "./programs/network-programs.ts";

/** What it needs, in short: hosts, sources, and how it gets there. */
function needsOf(command: string): string {
  const { needs, hosts, sources, canUseProxy } = findNetworkRequirements(command);
  if (!needs) return "nothing";
  const named = sources.map((source) => {
    if (source.kind === "registry") return `registry ${source.of}`;
    if (source.kind === "remote")
      return `remote ${source.name}${source.folder ? ` in ${source.folder}` : ""}`;
    return source.kind;
  });
  return [...hosts, ...named, ...(canUseProxy ? [] : ["no proxy"])].join(", ");
}

describe("the network that a command line needs", () => {
  it.each(NETWORK_ROWS.map((row) => [row.example, row] as const))("P53 knows %s", (example, row) => {
    const { uses, needs } = findNetworkRequirements(example);
    expect(uses).toHaveLength(1);
    expect(uses[0]?.why).toContain(row.does);
    expect(needs).toBe(row.isPossible !== true);
    if (row.noProxy) expect(uses[0]?.canUseProxy).toBe(false);
  });

  it.each([
    ["npm install", "registry npm"],
    ["npm ci && npm test", "registry npm"],
    ["npm --prefix web install --no-audit", "registry npm"],
    ["npm install https://example.org/a.tgz", "example.org, registry npm"],
    ["npm i left@git+ssh://git@example.org/x.git", "example.org, registry npm, no proxy"],
    ["sudo -E apt-get install -y git", "registry apt"],
    ["env CI=1 yarn", "registry npm"],
    ["bash -c 'pip install flask'", "registry pip"],
    ["python3.11 -m pip install 'a @ https://example.org/a.whl'", "example.org, registry pip"],
    ["git fetch", "remote null"],
    ["git -C sub push -u origin main", "remote origin in sub"],
    ["git push --force-with-lease origin HEAD:main", "remote origin"],
    ["git pull --all", "remote *"],
    ["git clone -b main https://me:secret@Example.org:8443/a.git", "example.org:8443"],
    ["git clone git@example.org:me/a.git", "example.org, no proxy"],
    ["git clone ssh://git@example.org:22/a.git", "example.org:22, no proxy"],
    ["git clone ext::'sh -c x' a", "unknown, no proxy"],
    ["git ls-remote https://example.org/a.git", "example.org"],
    ["git submodule update --init", "submodules"],
    ["git submodule add https://example.org/a.git", "example.org"],
    ["git lfs pull", "unknown"],
    ["curl -sS -H 'Accept: a/b' -o out.json https://example.org/x | jq .", "example.org"],
    ["curl example.org:8080/x", "example.org:8080"],
    ["curl -fsS http://[2001:db8::1]:81/", "[2001:db8::1]:81"],
    ["curl -x http://proxy.example.org:3128 https://example.org", "proxy.example.org:3128, example.org"],
    ["curl $URL", "unknown"],
    ["curl https://example.org/a?b=c", "example.org"],
    ["curl -K list https://example.org", "example.org, unknown"],
    ["curl https://a.example.org https://b.example.org", "a.example.org, b.example.org"],
    ["curl https://a.example.org ftp://b.example.org/x", "a.example.org, b.example.org, no proxy"],
    ["wget -O- https://example.org | tar xz", "example.org"],
    ["wget -i list.txt", "unknown"],
    ["ssh me@example.org ls", "example.org, no proxy"],
    ["scp a.txt me@example.org:b.txt", "example.org, no proxy"],
    ["rsync -e ssh -a dist/ example.org::www", "example.org, no proxy"],
    ["tar czf example.org:/x a", "example.org, no proxy"],
    ["psql -hdb.example.org -c 'select 1'", "db.example.org, no proxy"],
    ["psql postgres://me@db.example.org:5433/a", "db.example.org:5433, no proxy"],
    ["gh pr list", "github.com, api.github.com"],
    ["npm install & git push", "registry npm, remote null"],
  ])("P53 says where this goes: %s", (command, expected) => {
    expect(needsOf(command)).toBe(expected);
  });

  it.each([
    "npm test",
    "npm run build",
    "npm ls",
    "npm --version",
    "npm install --offline",
    "pip list",
    "pip install --no-index a.whl",
    "cargo --version",
    "go version",
    "git status",
    "git log origin/main",
    "git remote -v",
    "git remote add a https://example.org/a",
    "git submodule status",
    "git fetch ../other",
    "git clone /srv/a.git b",
    "git clone file:///srv/a.git",
    "git commit -m 'npm install'",
    "curl http://localhost:3000/x",
    "curl -s 127.0.0.1:8080",
    "curl http://[::1]:80/",
    "curl --version",
    "curl --help",
    "rsync -a src/ dist/",
    "tar czf a.tgz src",
    "scp a b",
    "psql -c 'select 1'",
    "psql -h localhost a",
    "psql -h /tmp a",
    "echo curl https://example.org",
    "nc -l 8080",
    "docker ps",
    "make",
    "node server.js",
    "redis-cli ping",
    "uv pip list",
  ])("P53 needs no network for %s", (command) => {
    expect(needsOf(command)).toBe("nothing");
  });

  it("P53 says apart what is fetched only if it is missing, and what sends", () => {
    const build = findNetworkRequirements("cargo build");
    expect(build.needs).toBe(false);
    expect(build.uses).toMatchObject([{ isCertain: false, sources: [{ kind: "registry", of: "cargo" }] }]);
    expect(findNetworkRequirements("git push origin main").uses).toMatchObject([{ isSending: true }]);
    expect(findNetworkRequirements("git fetch").uses).toMatchObject([{ isSending: false }]);
    expect(findNetworkRequirements("npm ci && npm run x").why).toBe("`npm ci` fetches packages");
  });
});
