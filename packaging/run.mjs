// Looks at the packages from outside: packs each, checks what is in it, installs all into an empty folder and uses
// them there, also with the MCP suite and other clients (conformance/). With --all also under other versions of Node,
// Bun and Deno, and with the optional packages.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
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
import { missingFiles, moveIn } from "./try-installed.mjs";
import { answerTwice, runAction } from "./try-outside.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(here);
const PACKAGES = ["cli", "core", "edit-match", "shell-judge"];
const LIBRARIES = ["core", "edit-match", "shell-judge"];
/** Packages of npm that bring a program to run JavaScript with, and how it is called on a file. */
const RUNTIMES = {
  "node@20.19.0": ["node"],
  "node@22.23.3": ["node"],
  "node@24.21.0": ["node"],
  "bun@1.4.5": ["bun"],
  "deno@2.9.6": ["deno", "run", "-A"],
};
const MOST_MB = { bare: 10, withOptional: 15 };
const isWhole = process.argv.includes("--all");

const place = mkdtempSync(join(tmpdir(), "burin-packaging-"));
const env = { ...process.env, HOME: join(place, "home"), BURIN_HOME: join(place, "home/.burin") };
let failed = 0;
let passed = 0;
try {
  const tools = join(place, "tools");
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(tools, name));
  npm(tools, "ci", "--ignore-scripts");
  execFileSync(process.execPath, ["build.mjs"], { cwd: repository, stdio: "inherit" });
  const packed = PACKAGES.map((name) => pack(name));
  await lint(join(tools, "node_modules"));
  const user = emptyFolder("user");
  npm(user, "install", "--omit=optional", ...packed);
  await use("node", [process.execPath], user);
  for (const name of ["burin", ...LIBRARIES.map((library) => `@burin/${library}`)])
    await check(`${name} has its README, licence, notices, source maps and schema`, () =>
      assertNone(missingFiles(join(user, "node_modules", name))),
    );
  await check("burin -c goes on with a session of Claude Code, and the smallest plugin brings a skill", () =>
    moveIn(user, {
      page: join(repository, "docs/hooks-skills-commands.md"),
      record: join(repository, "packages/cli/tests/other-agents/claude.jsonl"),
      home: join(place, "moved"),
      env,
    }),
  );
  for (const [name, ...words] of [["run.mjs"], ["clients.mjs"], ["agents.mjs", "gemini", "qwen"]])
    await check(`conformance/${name} passes with the installed packages`, () =>
      // With the user's own home, where npm keeps what it has downloaded; Burin gets another.
      execFileSync(process.execPath, [join(repository, "conformance", name ?? ""), user, ...words], {
        stdio: "inherit",
      }),
    );
  await check("npm puts the manual page where man looks for it", () => {
    const prefix = join(place, "global");
    npm(place, "install", "--global", "--prefix", prefix, "--omit=optional", packed[0] ?? "");
    if (!existsSync(join(prefix, "share/man/man1/burin.1"))) throw new Error("it is not there");
  });
  await check("the AI SDK of Vercel runs a tool of the library", () =>
    answerTwice(exampleWith(tools, user), env),
  );
  await check("the script of action.yml hands its inputs on and gives the answer", () =>
    runAction(join(repository, "action.yml"), { bin: join(user, "node_modules/.bin"), folder: place, env }),
  );
  if (isWhole) await useElsewhere(user, packed);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}

/**
 * @param {string} what
 * @param {() => unknown} work throws when it does not hold
 */
async function check(what, work) {
  try {
    await work();
    passed += 1;
    process.stdout.write(`ok      ${what}\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${what}\n${error instanceof Error ? error.stack : error}\n`);
  }
}

/** @param {string} folder @param {string[]} words */
function npm(folder, ...words) {
  const quiet = ["--silent", "--no-audit", "--no-fund"];
  return execFileSync("npm", [...words, ...quiet], { cwd: folder, encoding: "utf8", stdio: "pipe" });
}

/** @param {string} name of the package's folder */
function pack(name) {
  const folder = join(repository, "packages", name);
  return join(place, npm(folder, "pack", "--ignore-scripts", "--pack-destination", place).trim());
}

/** @param {string} name */
function emptyFolder(name) {
  const folder = join(place, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  return folder;
}

/** @param {string} tools the folder of their packages */
async function lint(tools) {
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
      assertNone(messages.map((/** @type {unknown} */ message) => formatMessage(message, pkg)));
    });
  }
  const attw = join(tools, "@arethetypeswrong/cli/dist/index.js");
  for (const name of LIBRARIES) {
    await check(`the types of ${name} are not wrong`, () =>
      run([process.execPath, attw, "--pack", join(repository, "packages", name)], repository),
    );
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
    const readme = readFileSync(join(user, "node_modules/@burin/core/README.md"), "utf8");
    const [, example = ""] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    writeFileSync(join(user, "example.mjs"), example);
    assertHas(await ask("example.mjs"), "package.json");
    const required = 'for (const name of ["core", "core/testing", "edit-match", "shell-judge"])';
    const names = `${required} console.log(Object.keys(require("@burin/" + name)).join());`;
    writeFileSync(join(user, "example.cjs"), names);
    // Jest has no require for ES modules.
    const without = name.startsWith("node") ? ["--no-experimental-require-module"] : [];
    assertHas(await ask(...without, "example.cjs"), "createToolbox");
  });
  await check(`${name}: files, search, the shell and a session`, async () => {
    cpSync(join(here, "every-part.mjs"), join(user, "every-part.mjs"));
    assertHas(await ask("every-part.mjs"), "all parts work");
  });
}

/** @param {string} user @param {string[]} packed */
async function useElsewhere(user, packed) {
  for (const [name, [program = "", ...words]] of Object.entries(RUNTIMES)) {
    const folder = emptyFolder(name.replace("@", "-"));
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", name], {
      cwd: folder,
      stdio: "pipe",
    });
    await use(name, [join(folder, "node_modules/.bin", program), ...words], user);
  }
  const whole = emptyFolder("whole");
  npm(whole, "install", packed[0] ?? "");
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

/** The example of the page on the library, where both packages can be found. @param {string} tools @param {string} user */
function exampleWith(tools, user) {
  const page = readFileSync(join(repository, "docs/library.md"), "utf8");
  const blocks = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  cpSync(join(user, "node_modules/@burin"), join(tools, "node_modules/@burin"), { recursive: true });
  const file = join(tools, "ai-sdk.mjs");
  writeFileSync(file, blocks.find((code) => code.includes('from "ai"')) ?? "");
  return file;
}

/** @param {string[]} command @param {string} cwd */
async function run([program = "", ...args], cwd) {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: 1e8 });
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
