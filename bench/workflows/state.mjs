// What is compared: files, the state of git, and outputs without what differs anyway.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/**
 * @param {string} root
 * @param {RegExp} [ignore]
 */
export function readTreeState(root, ignore) {
  /** @type {Map<string, string>} */
  const found = new Map();
  const look = (/** @type {string} */ path) => {
    for (const name of readdirSync(join(root, path)).sort()) {
      const inner = path === "" ? name : `${path}/${name}`;
      if (name === ".git" || inner === "node_modules/.package-lock.json" || ignore?.test(inner)) continue;
      const stats = lstatSync(join(root, inner));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) found.set(inner, `link to ${readlinkSync(join(root, inner))}`);
      else if (stats.isDirectory()) {
        found.set(inner, `folder ${mode}`);
        look(inner);
      } else if (stats.isFile()) found.set(inner, `file ${mode} ${hashOf(readFileSync(join(root, inner)))}`);
      else found.set(inner, "other");
    }
  };
  look("");
  return found;
}

/** @param {Buffer} bytes */
function hashOf(bytes) {
  return `${bytes.length} bytes ${createHash("sha1").update(bytes).digest("hex").slice(0, 8)}`;
}

const QUESTIONS = {
  head: "symbolic-ref -q HEAD || echo detached",
  refs: "for-each-ref --format='%(refname) %(objecttype) %(*tree)%(tree) %(contents:subject)' --exclude=refs/stash --exclude=refs/notes 2>/dev/null || git for-each-ref --format='%(refname) %(objecttype) %(*tree)%(tree) %(contents:subject)' refs/heads refs/tags refs/remotes",
  history: "log --all --format='%T %s %an' | sort -u",
  index: "ls-files -s",
  stash: "stash list --format=%gs",
  status: "status --porcelain --untracked-files=all",
  config: "config --local --list",
  hooks: "rev-parse --git-path hooks | xargs ls",
};

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 */
export async function readGitState(root, env) {
  const entries = Object.entries(QUESTIONS).map(([name, words]) => {
    const { stdout } = spawnSync("bash", ["-c", `git ${words} 2>&1`], { cwd: root, env, encoding: "utf8" });
    const text = stdout.replace(/\S*\/(?:bash|burin)\//g, "/");
    // Commits of one second come in any order, and a stash names the hash of its commit.
    const lines = name === "config" ? text.split("\n").sort() : text.split("\n");
    const plain =
      name === "history" || name === "stash"
        ? lines
            .map((line) => line.replace(/: [0-9a-f]{7} /, ": HASH ").replace(/^\w+ (?=Notes added)/, ""))
            .sort()
        : lines;
    return /** @type {const} */ ([`git ${name}`, plain.join("\n")]);
  });
  return new Map(entries);
}

/**
 * @param {string} text
 * @param {import("./project.mjs").Project} project
 */
export function normalizeText(text, { folder }) {
  return (
    text
      .replaceAll(folder, "")
      // What a progress line wrote over, and the name of the shell.
      .replace(/[^\n]*\r(?!\n)/g, "")
      .replace(/^\/bin\/bash: /gm, "bash: ")
      .replace(/duration_ms:? [\d.]+/g, "TIME")
      .replace(/\S*\/(?:tmp|var\/tmp)\/[\w.-]+/g, "TEMPORARY")
      .replace(/\b[0-9a-f]{7,64}\b/g, "HASH")
      .replace(/\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?: ?[+-]\d{4})?/g, "TIME")
      .replace(/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d+ [\d:]+ \d{4}(?: [+-]\d{4})?/g, "TIME")
      .replace(/\d+(?:\.\d+)? ?m?s(?:econds?)?\b/g, "TIME")
      .replace(/\[\d+\] \d+|"pid": ?\d+|pid \d+/gi, "PID")
      .replace(/\s+$/, "")
  );
}
