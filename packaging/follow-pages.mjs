// Follows pages as a newcomer does: in an empty home, with the installed packages, word for word. A block of `console` has
// commands behind `$` and what they print, one of `sh` commands alone, one of `js` a program. A block behind the name of a
// file, at the end of the sentence before it, is that file. In what a command prints, `...` stands for anything, and a word
// such as `DvQb...` for one that later commands use. A command that goes on after it has printed that is left running.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { pages } from "./pages.mjs";

/** For a machine with much else to do. */
const MOST_SECONDS = 120;

/**
 * @typedef {{ text: string, language: string, file: string | undefined }} Block
 * @typedef {{ command: string, prints: string }} Step
 * @typedef {{
 *   repository: string, user: string, clients: string, node: string, home: string, project: string
 * }} Places
 * @typedef {{
 *   has?: (places: Places) => void,
 *   files?: string,
 *   as?: Record<string, string>,
 *   first?: Step[],
 *   tells?: Record<string, string>,
 *   notRun?: Record<string, string>,
 *   shows?: string[],
 * }} Page what a page does not say itself: what its reader has; where files of no folder are, from the project; what words
 *   stand for; what runs before; what the model is told with the command that begins so; what cannot be followed here, and
 *   why; what shows afterwards that it worked
 */

/**
 * @param {(what: string, work: () => unknown) => Promise<void>} check
 * @param {Pick<Places, "repository" | "user" | "clients" | "node">} given the clone, where Burin and what the pages use of
 *   others are installed, and the Node that some programs of others need
 */
export async function followPages(check, { repository, user, clients, node }) {
  symlinkSync(join(user, "node_modules/@burin"), join(clients, "node_modules/@burin"));
  const follow = async (/** @type {[string, Page]} */ [page, told]) => {
    const top = join(clients, "pages", page.replace(/\W/g, "-"));
    const [home, project] = [join(top, "home"), join(top, "project")];
    for (const folder of [home, project]) mkdirSync(folder, { recursive: true });
    const places = { repository, user, clients, node, home, project: realpathSync(project) };
    const follower = new Follower(page, places, told);
    await follower.follow().finally(() => follower.end());
  };
  const all = Object.entries(pages);
  await Promise.all(all.map((one) => check(`${one[0]} was followed word for word`, () => follow(one))));
}

class Follower {
  /** @type {import("node:child_process").ChildProcess[]} */
  #running = [];
  #exports = "";
  #outputs = 0;
  /** @type {import("@burin/core/testing").FakeModelServer | undefined} */
  #model;
  /** What the page says, and what it stands for here. @type {Map<string, string>} */
  #as;
  /** What of the page's entry was not used. */
  #unused;

  /** @param {string} page @param {Places} places @param {Page} told */
  constructor(page, places, told) {
    this.page = page;
    this.places = places;
    this.told = told;
    this.#as = new Map(Object.entries(told.as ?? {}));
    this.#unused = new Set([told.as, told.notRun, told.tells].flatMap((one) => Object.keys(one ?? {})));
  }

  async follow() {
    const { repository, user } = this.places;
    const testing = pathToFileURL(join(user, "node_modules/@burin/core/dist/testing.js"));
    const { startFakeModelServer } = await import(testing.href);
    this.#model = await startFakeModelServer(Array.from({ length: 100 }, () => reply));
    this.told.has?.(this.places);
    for (const step of this.told.first ?? []) await this.#run(step);
    for (const block of blocksOf(readFileSync(join(repository, this.page), "utf8")))
      await this.#followBlock(block);
    for (const command of this.told.shows ?? []) await this.#run({ command, prints: "" });
    const faults = [
      ...(this.#model?.problems ?? []),
      ...[...this.#unused].map((words) => `packaging/pages.mjs names "${words}", which is not on the page`),
      ...this.#running.flatMap(({ exitCode }) => (exitCode ? ["what was left running has failed"] : [])),
    ];
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }

  async end() {
    for (const child of this.#running) {
      if (child.pid === undefined || child.exitCode !== null) continue;
      process.kill(-child.pid, "SIGTERM");
      await once(child, "close");
    }
    await this.#model?.close();
  }

  /** @param {Block} block */
  async #followBlock({ language, text, file }) {
    const isShell = language === "console" || language === "sh";
    if (!isShell && this.#begins(text, this.told.notRun) !== undefined) return;
    if (file !== undefined) this.#save(file, text);
    else if (language === "js") {
      writeFileSync(join(this.places.project, "try.mjs"), this.#meant(text));
      await this.#run({ command: "node try.mjs", prints: "" });
    } else if (language === "json") {
      writeFileSync(join(this.places.project, "try.json"), this.#meant(text));
      // Settings that Burin takes without a word on stderr.
      const command = "burin explain ls --settings try.json 2>&1 > /dev/null | (! grep .)";
      await this.#run({ command, prints: "" });
    } else if (isShell)
      for (const step of language === "sh" ? commandsOf(text) : stepsOf(text)) {
        if (step.command.startsWith("export ")) this.#exports += `${this.#meant(step.command)}\n`;
        if (this.#begins(step.command, this.told.notRun) === undefined) await this.#run(step);
      }
    else throw new Error(`packaging/pages.mjs does not say how this block is followed:\n${text}`);
  }

  /**
   * What is said of a text that begins so.
   * @param {string} text @param {Record<string, string> | undefined} told
   */
  #begins(text, told = {}) {
    const found = Object.keys(told).find((words) => text.startsWith(words));
    if (found !== undefined) this.#unused.delete(found);
    return found === undefined ? undefined : told[found];
  }

  /** @param {string} text */
  #meant(text) {
    let meant = text;
    const { user, repository, project } = this.places;
    /** @type {Record<string, string | undefined>} */
    const here = { URL: this.#model?.baseUrl, BURIN: join(user, "node_modules/.bin/burin") };
    Object.assign(here, { CLONE: repository, PROJECT: project });
    for (const [words, value] of this.#as) {
      if (meant.includes(words)) this.#unused.delete(words);
      meant = meant.replaceAll(
        words,
        value.replace(/<([A-Z]+)>/, (_, name) => here[name] ?? ""),
      );
    }
    return meant;
  }

  /** @param {string} name @param {string} text */
  #save(name, text) {
    const { home, project } = this.places;
    const folder = name.startsWith(".") ? project : resolve(project, this.told.files ?? "");
    const path = name.startsWith("~/") ? join(home, name.slice(2)) : resolve(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.#meant(text));
  }

  /** @param {Step} step */
  async #run({ command, prints }) {
    const words = this.#meant(command);
    const asked = this.#model?.requests.length ?? 0;
    const expected = expectedOutput(this.#meant(prints));
    this.#outputs += 1;
    const file = join(dirname(this.places.home), `output-${this.#outputs}`);
    const output = openSync(file, "a");
    const child = spawn("bash", ["-c", `${this.#exports}${words}`], {
      cwd: this.places.project,
      env: this.#environment(words),
      detached: true,
      stdio: ["ignore", output, output],
    });
    const ended = new Promise((done) => child.on("close", done));
    this.#running.push(child);
    const printed = () => readFileSync(file, "utf8").trim();
    for (let tenths = 0; tenths < MOST_SECONDS * 10; tenths += 1) {
      await Promise.race([ended, wait(100)]);
      if (child.exitCode !== null) break;
      if (prints !== "" && expected.pattern.test(printed())) {
        // A command that has said all may be about to end.
        await Promise.race([ended, wait(1000)]);
        break;
      }
    }
    const found = expected.pattern.exec(printed());
    const isWrong = child.exitCode === null ? prints === "" : child.exitCode !== 0;
    if (isWrong || (prints !== "" && !found))
      throw new Error(
        `$ ${words}\nended with ${child.exitCode} and printed:\n${printed()}\n${prints && `Said was:\n${prints}`}`,
      );
    for (const [at, name] of expected.names.entries()) this.#as.set(name, found?.[at + 1] ?? "");
    if (child.exitCode !== null) this.#running.splice(this.#running.indexOf(child), 1);
    const heard = this.#begins(command, this.told.tells) ?? "";
    const made = this.#model?.requests.slice(asked) ?? [];
    const [last] = made.slice(-1);
    if (last && isBegun(last)) throw new Error(`$ ${words}\nnever said what is in the folder`);
    const requests = JSON.stringify(made);
    if (!requests.includes(JSON.stringify(heard).slice(1, -1)))
      throw new Error(`$ ${words}\n"${heard}" did not reach the model: ${requests}`);
  }

  /** @param {string} command */
  #environment(command) {
    const { user, node, home } = this.places;
    // What asks for a newer Node finds it.
    const own = command.startsWith("npx ") ? [dirname(node)] : [];
    const folders = [...own, join(user, "node_modules/.bin"), dirname(process.execPath), process.env.PATH];
    const model = { OPENAI_BASE_URL: this.#model?.baseUrl, OPENAI_MODEL: "m", OPENAI_API_KEY: "none" };
    return { HOME: home, PATH: folders.join(":"), LANG: "C.UTF-8", ...model };
  }
}

/** The model has not looked at anything yet, and can. @param {{ body: object }} request */
function isBegun({ body }) {
  const asked = JSON.stringify(body);
  return asked.includes('"list_directory"') && !asked.includes('"tool_calls"');
}

/** Looks at the folder, then answers, in the form that is asked for. @param {{ body: object }} request */
function reply(request) {
  if (isBegun(request)) return { calls: [{ name: "list_directory", args: { path: "." } }] };
  return { text: JSON.stringify(request.body).includes("findings") ? '{"findings":[]}' : "Done." };
}

/** @param {string} page @returns {Block[]} */
function blocksOf(page) {
  const found = page.matchAll(/^```(\w+)\n([\s\S]*?)^```$|(?<=\n\n)(?: {4}\S.*\n)+/gm);
  return [...found].map(({ 0: whole, 1: language = "sh", 2: fenced, index }) => ({
    language,
    text: fenced ?? whole.replace(/^ {4}/gm, ""),
    file: /`([\w~./-]+\.\w+)`:$/.exec(page.slice(0, index).trimEnd())?.[1],
  }));
}

/** @param {string} text @returns {Step[]} */
function commandsOf(text) {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((command) => ({ command, prints: "" }));
}

/** @param {string} text @returns {Step[]} */
function stepsOf(text) {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...prints] = part.trim().split("\n");
      return { command, prints: prints.join("\n") };
    });
}

/** @param {string} prints */
function expectedOutput(prints) {
  /** @type {string[]} */
  const names = [];
  const pattern = prints.replace(/([\w-]{4,}\.\.\.)|\.\.\.|[.*+?^${}()|[\]\\]/g, (found, name) => {
    if (name !== undefined && names.includes(name)) return `\\${names.indexOf(name) + 1}`;
    if (name === undefined) return found === "..." ? "[\\s\\S]*?" : `\\${found}`;
    names.push(name);
    return "([\\w-]+)";
  });
  return { names, pattern: new RegExp(`^${pattern}$`) };
}
