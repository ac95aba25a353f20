// Looks at the packages from outside, as they were built last: packs each, checks what is in it, installs all into an
// empty folder and uses them there, also with clients that keep no protocol (tests of packages/cli), the MCP suite and
// other clients (conformance/), and follows the pages with them; and the commands of README.md on a machine that lacks
// what tests call (bare-machine.mjs). With --all also under other versions of Node, Bun and Deno, and with the optional
// packages. With --quick without the machine that lacks programs, which takes minutes. A folder behind it is where
// others.mjs has installed what it needs.
import { execFile, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { bareMachine } from "./bare-machine.mjs";
import { tryBundlers } from "./bundlers.mjs";
import { followPages } from "./follow-pages.mjs";
import { emptyPackage, installOthers, npm, placesIn, RUNTIMES } from "./others.mjs";
import { missingFiles } from "./try-installed.mjs";
import { runAction } from "./try-outside.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(here);
const PACKAGES = ["cli", "core", "edit-match", "shell-judge"];
const LIBRARIES = ["core", "edit-match", "shell-judge"];
/** Clients that keep no protocol, in seconds; the other tests of them ran with the same bundle. */
const BAD_CLIENTS = "serve-odd-messages";
const MOST_MB = { bare: 10, withOptional: 15 };
/** More than there are cores, for some wait for the network. */
const AT_ONCE = 3;
const isWhole = process.argv.includes("--all");
const isQuick = process.argv.includes("--quick");
const given = process.argv.slice(2).find((word) => !word.startsWith("--"));

const place = mkdtempSync(join(tmpdir(), "burin-packaging-"));
const env = { ...process.env, HOME: join(place, "home"), BURIN_HOME: join(place, "home/.burin") };
let failed = 0;
let passed = 0;
try {
  const others = placesIn(given ?? join(place, "others"));
  const areThere = given === undefined ? installOthers(join(place, "others"), isWhole) : Promise.resolve();
  const packed = await Promise.all(PACKAGES.map(pack));
  const user = emptyFolder("user");
  await npm(user, "install", "--omit=optional", ...packed);
  writeExamples(user);
  await workOff([
    () => areThere.then(() => conformAndFollow(user, others)),
    () => conform(["agents.mjs", "gemini", "qwen"], user),
    () => areThere.then(() => lint(others.tools)),
    () =>
      areThere.then(() => tryBundlers(check, { user, tools: others.tools, place: join(place, "bundles") })),
    () => meetBadClients(user),
    () => areThere.then(() => conform(["clients.mjs"], user, others.newerNode)),
    () => use("node", [process.execPath], user),
    () => lookAround(user, packed),
    ...(process.platform === "linux" && !isQuick ? bareMachine(false) : []).map(
      ([what, work]) =>
        () =>
          check(what, work),
    ),
    ...(isWhole ? elsewhere(others.runtimes, areThere, user) : []),
    ...(isWhole ? [() => weigh(packed)] : []),
  ]);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** @param {(() => Promise<void>)[]} tasks */
async function workOff(tasks) {
  const open = [...tasks];
  const work = async () => {
    for (let task = open.shift(); task !== undefined; task = open.shift()) await task();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/**
 * @param {string} what
 * @param {() => unknown} work throws when it does not hold, and returns what is to be told
 */
async function check(what, work) {
  try {
    const told = await work();
    passed += 1;
    process.stdout.write(`ok      ${what}\n${told ?? ""}`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${what}\n${error instanceof Error ? error.stack : error}\n`);
  }
}

/** @param {string} name of the package's folder */
async function pack(name) {
  const folder = join(repository, "packages", name);
  return join(place, (await npm(folder, "pack", "--ignore-scripts", "--pack-destination", place)).trim());
}

/** @param {string} name */
function emptyFolder(name) {
  const folder = join(place, name);
  emptyPackage(folder);
  return folder;
}

/** @param {string} folder of the programs that look */
async function lint(folder) {
  const tools = join(folder, "node_modules");
  /** @param {string} file */
  const load = (file) => import(pathToFileURL(join(tools, file)).href);
  const [{ publint }, { formatMessage }] = [
    await load("publint/src/index-node.js"),
    await load("publint/src/utils.js"),
  ];
  for (const name of PACKAGES) {
    const pkgDir = join(repository, "packages", name);
    await check(`publint finds nothing in ${name}`, async () => {
      const { messages, pkg } = await publint({ pkgDir, strict: true });
      const told = messages.map((/** @type {unknown} */ message) => String(formatMessage(message, pkg)));
      // The demo writes a module of its own, whose text publint takes for code of that chunk.
      assertNone(told.filter((/** @type {string} */ text) => !text.includes("/chunks/demo-model-")));
    });
  }
  const attw = join(tools, "@arethetypeswrong/cli/dist/index.js");
  for (const name of LIBRARIES) {
    await check(`the types of ${name} are not wrong`, async () => {
      await run([process.execPath, attw, "--pack", join(repository, "packages", name)], repository);
    });
  }
  // Made for bundlers: it imports JSON as they allow it.
  const checker = await rolldown({
    input: join(tools, "@actions/languageservice/dist/index.js"),
    platform: "node",
  });
  await checker.write({ file: join(tools, "checker.mjs"), codeSplitting: false });
  const { validate } = await load("checker.mjs");
  const { default: dockerfiles } = await load("dockerfile-utils/lib/main.js");
  /** @param {string} uri @param {string} text */
  const document = (uri, text) => ({
    uri,
    getText: () => text,
    positionAt: () => ({ line: 0, character: 0 }),
  });
  const page = readFileSync(join(repository, "docs/automation.md"), "utf8");
  const job = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const action = readFileSync(join(repository, "action.yml"), "utf8");
  const docs = readFileSync(join(repository, ".github/workflows/docs.yml"), "utf8");
  const texts = {
    "file:///a/action.yml": action,
    "file:///a/.github/workflows/review.yml": job,
    "file:///a/.github/workflows/docs.yml": docs,
  };
  for (const [uri, text] of Object.entries(texts)) {
    await check(`the checker of GitHub finds nothing in ${uri.split("/").at(-1)}`, async () => {
      assertNone(
        (await validate(document(uri, text))).map(
          (/** @type {{ message: string }} */ { message }) => message,
        ),
      );
    });
  }
  await check("the checker of Dockerfiles finds nothing", () => {
    const found = dockerfiles.validate(readFileSync(join(repository, "Dockerfile"), "utf8"));
    assertNone(found.map((/** @type {{ message: string }} */ { message }) => message));
  });
}

/**
 * The packages as a user has them, run by one program.
 * @param {string} name
 * @param {string[]} runtime
 * @param {string} user
 */
async function use(name, runtime, user) {
  const burin = join(user, "node_modules/burin/dist/burin.cjs");
  /** @param {string[]} words */
  const ask = (...words) => run([...runtime, ...words], user);
  await check(`${name}: burin --version, demo and call`, async () => {
    const { version } = JSON.parse(readFileSync(join(repository, "packages/cli/package.json"), "utf8"));
    assertHas(await ask(burin, "--version"), version);
    assertHas(await ask(burin, "demo"), "done");
    assertHas(await ask(burin, "call", "list_directory", '{"path":"."}'), "package.json");
  });
  await check(`${name}: burin serve mcp starts and ends without a word on stderr`, () =>
    assertNone(errorsOf([...runtime, burin, "serve", "mcp"], user)),
  );
  await check(`${name}: the library by import, and by require`, async () => {
    assertHas(await ask("example.mjs"), "package.json");
    // Jest has no require for ES modules.
    const without = name.startsWith("node") ? ["--no-experimental-require-module"] : [];
    assertHas(await ask(...without, "example.cjs"), "createToolbox");
  });
  await check(`${name}: files, search, the shell and a session`, async () => {
    assertHas(await ask("every-part.mjs"), "all parts work");
  });
}

/** What each program runs. @param {string} user */
function writeExamples(user) {
  const readme = readFileSync(join(user, "node_modules/@burin/core/README.md"), "utf8");
  const [, example = ""] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
  writeFileSync(join(user, "example.mjs"), example);
  const required = 'for (const name of ["core", "core/testing", "edit-match", "shell-judge"])';
  const names = `${required} console.log(Object.keys(require("@burin/" + name)).join());`;
  writeFileSync(join(user, "example.cjs"), names);
  cpSync(join(here, "every-part.mjs"), join(user, "every-part.mjs"));
}

/** @param {string[]} words @param {string} user @param {string} [newerNode] that some programs of others need */
function conform([name = "", ...words], user, newerNode) {
  const command = [process.execPath, join(repository, "conformance", name), user, ...words];
  const more = newerNode === undefined ? {} : { NEWER_NODE: newerNode };
  return check(`conformance/${name} passes with the installed packages`, () =>
    run(command, repository, { ...process.env, ...more }),
  );
}

/** Both use the programs that the suite brings. @param {string} user @param {ReturnType<typeof placesIn>} others */
async function conformAndFollow(user, { clients, newerNode }) {
  await conform(["run.mjs", clients], user, newerNode);
  await followPages(check, { repository, user, clients, node: newerNode });
}

/** @param {string} user */
function meetBadClients(user) {
  const vitest = join(repository, "node_modules/vitest/vitest.mjs");
  const file = `packages/cli/tests/${BAD_CLIENTS}.test.ts`;
  const command = [process.execPath, vitest, "run", "--reporter=dot", file];
  return check("burin serve, as it is installed, withstands clients that keep no protocol", () =>
    run(command, repository, { ...process.env, BURIN_INSTALLED: user }),
  );
}

/** What is there only once, and soon seen. @param {string} user @param {string[]} packed */
async function lookAround(user, packed) {
  for (const name of ["burin", ...LIBRARIES.map((library) => `@burin/${library}`)])
    await check(`${name} has its README, licence, notices, source maps and schema`, () =>
      assertNone(missingFiles(join(user, "node_modules", name))),
    );
  await check("npm puts the manual page where man looks for it", async () => {
    const prefix = join(place, "global");
    await npm(place, "install", "--global", "--prefix", prefix, "--omit=optional", packed[0] ?? "");
    if (!existsSync(join(prefix, "share/man/man1/burin.1"))) throw new Error("it is not there");
  });
  await check("the script of action.yml hands its inputs on and gives the answer", () =>
    runAction(join(repository, "action.yml"), { bin: join(user, "node_modules/.bin"), folder: place, env }),
  );
}

/** @param {string} runtimes @param {Promise<unknown>} areThere @param {string} user */
function elsewhere(runtimes, areThere, user) {
  return Object.entries(RUNTIMES).map(([name, [program = "", ...words]]) => async () => {
    await areThere;
    await use(name.replace(/.*npm:/, ""), [join(runtimes, program), ...words], user);
  });
}

/** @param {string[]} packed */
async function weigh(packed) {
  const whole = emptyFolder("whole");
  await npm(whole, "install", packed[0] ?? "");
  const megabytes = (/** @type {string} */ folder) => bytesBelow(folder) / 1e6;
  const sizes = {
    bare: megabytes(join(whole, "node_modules/burin")),
    withOptional: megabytes(join(whole, "node_modules")),
  };
  for (const [key, size] of Object.entries(sizes)) {
    const most = MOST_MB[/** @type {keyof typeof MOST_MB} */ (key)];
    await check(`burin ${key}: ${size.toFixed(1)} MB of at most ${most}`, () =>
      assertNone(size > most ? [size] : []),
    );
  }
}

/** @param {string} path @returns {number} */
function bytesBelow(path) {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}

/** @param {string[]} command @param {string} cwd @param {NodeJS.ProcessEnv} [variables] */
async function run([program = "", ...args], cwd, variables = env) {
  const options = { cwd, env: variables, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}

/** What a program without input writes to stderr. @param {string[]} command @param {string} cwd */
function errorsOf([program = "", ...args], cwd) {
  const { stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8", input: "" });
  return stderr === "" ? [] : [stderr];
}

/** @param {string} text @param {string} words */
function assertHas(text, words) {
  if (!text.includes(words)) throw new Error(`"${words}" is not in: ${text}`);
}

/** @param {unknown[]} faults */
function assertNone(faults) {
  if (faults.length > 0) throw new Error(faults.join("\n"));
}
