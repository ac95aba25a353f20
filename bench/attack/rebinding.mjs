// Names that the settings allow and that lead somewhere else at each look-up. Root gives a Burin another /etc/hosts, in a
// mount namespace, and changes that file all the time; so the look-ups are the system's own. Without root it is left out.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
const NOBODY = 65_534;
const MARK = "reached-what-was-not-allowed";
const HERE = "127.66.0.1";
/** Nothing answers there, and no rule refuses it. */
const PUBLIC = "93.184.215.14";

/** Where each name leads that never changes. */
const FIXED = {
  "here.test": [HERE],
  "mapped.test": [`::ffff:${HERE}`],
  "private.test": ["10.1.2.3"],
  "metadata.test": ["169.254.169.254"],
  "unique.test": ["fd00::1"],
  "six.test": ["::1"],
  "both.test": [PUBLIC, HERE],
  "turned.test": [HERE, PUBLIC],
  "named.test": [HERE],
};
const MAX_FLIPPED = 100;
const FLIPS = [[PUBLIC], [HERE], [PUBLIC, HERE], [HERE, PUBLIC], []];

/** Answers how many attacks had an effect. */
export async function run() {
  if (process.getuid?.() !== 0) {
    console.log("rebinding: left out, as only root can give a process another /etc/hosts");
    return 0;
  }
  const base = mkdtempSync(join(tmpdir(), "burin-hosts-"));
  const hosts = join(base, "hosts");
  const fixed = formatHosts(FIXED);
  writeFileSync(hosts, fixed);
  const file = openSync(hosts, "r+");
  let wrong = 0;
  const server = createServer(({ headers }, response) => {
    const isNamed = headers.host === "named.test";
    if (!isNamed) wrong += 1;
    response.end(isNamed ? "the named place" : MARK);
  });
  await /** @type {Promise<void>} */ (new Promise((done) => server.listen(80, HERE, () => done())));
  let at = 0;
  const flip = setInterval(() => {
    at += 1;
    const lines = formatHosts({ "flip.test": FLIPS[at % FLIPS.length] ?? [] });
    // In one write and without a cut, so that nobody ever sees half a file.
    writeSync(file, fixed + lines.padEnd(MAX_FLIPPED, "\n"), 0);
  }, 1);
  let failures = 0;
  try {
    for (const words of ["", `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups`])
      failures += await inside(`${words} '${process.execPath}' '${fileURLToPath(import.meta.url)}' inside`);
  } finally {
    clearInterval(flip);
    closeSync(file);
    server.close();
    rmSync(base, { recursive: true, force: true });
  }
  console.log(`rebinding: ${wrong} connections that nobody allowed`);
  return failures + wrong;

  /** @param {string} line @returns {Promise<number>} */
  function inside(line) {
    const script = `mount --bind '${hosts}' /etc/hosts && exec ${line}`;
    const child = spawn("unshare", ["--mount", "sh", "-c", script], { stdio: "inherit" });
    return new Promise((done) => child.on("close", (code) => done(code ?? 1)));
  }
}

/** @param {Record<string, readonly string[]>} names */
function formatHosts(names) {
  const lines = Object.entries(names).flatMap(([name, all]) => all.map((address) => `${address} ${name}\n`));
  return lines.join("");
}

async function runAttacks() {
  const base = mkdtempSync(join(tmpdir(), "burin-rebinding-"));
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const root = join(base, "project");
  mkdirSync(root);
  const { http_proxy, https_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY, no_proxy, ...rest } = process.env;
  const names = [...Object.keys(FIXED).filter((name) => name !== "named.test"), "flip.test"];
  const toolbox = createToolbox({
    root,
    environment: { ...rest, HOME: base, BURIN_HOME: join(base, "home") },
    settings: {
      permissions: { allow: ["run_shell_command"] },
      sandbox: { mode: "workspace-write", network: [...names, "named.test:80"] },
    },
  });
  const shell = async (/** @type {string} */ command) =>
    String((await toolbox.call("run_shell_command", { command, timeout: 120_000 })).llmContent);
  /** @type {string[]} */
  const broken = [];
  let count = 0;
  const expect = (/** @type {string} */ title, /** @type {boolean} */ isHeld) => {
    count += 1;
    if (!isHeld) broken.push(title);
  };
  const get = (/** @type {string} */ name, words = "") =>
    `curl -sS --noproxy '' -m 3 ${words} http://${name}/ 2>&1`;
  try {
    // Also shows that this file of names is the one that counts.
    expect("a place that was named is reached", (await shell(get("named.test"))).includes("the named place"));
    for (const name of names) {
      expect(`a request to ${name}`, !(await shell(`${get(name)}; true`)).includes(MARK));
      expect(`a tunnel to ${name}`, !(await shell(`${get(name, "-p")}; true`)).includes(MARK));
    }
    for (const words of ["", "-p"]) {
      const many = `for i in $(seq 150); do ${get("flip.test", words)} & [ $((i % 15)) = 0 ] && wait; done; wait`;
      expect("150 requests while the name flips", !(await shell(many)).includes(MARK));
    }
  } finally {
    await toolbox.close();
    rmSync(base, { recursive: true, force: true });
  }
  const who = process.getuid?.() === 0 ? "root" : "an ordinary user";
  console.log(`rebinding, as ${who}: ${count} attacks, ${broken.length} with an effect`);
  for (const title of broken) console.log(`  not held: ${title}`);
  return broken.length;
}

if (process.argv[2] === "inside") process.exit(await runAttacks());
