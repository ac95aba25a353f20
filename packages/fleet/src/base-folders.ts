import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { constants, cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "@burin/core/internal";
import { applyChanges } from "./folder-changes.ts";
import { FleetError } from "./ground.ts";
import { quote, runGit, runTrustedCommand } from "./run-command.ts";
import type { Submission } from "./steps.ts";
import type { Store } from "./store.ts";

type MakeFolder = (to: string, signal: AbortSignal) => Promise<void>;

const MAX_NAME_BYTES = 1000;
/** Git without those of the user's settings that may name programs in the folder itself. */
const GIT = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false";

/** A folder that tasks start from. It is never changed. */
export interface BaseFolder {
  readonly folder: string;
  /** Git data, in another folder, for creating patches against this folder. */
  readonly git: string;
  /** The commit, if the folder comes from a repository. */
  readonly commit?: string;
}

/** A base folder that exists or is being created. Creating it stops when no task waits for it any more. */
interface PendingBase {
  readonly made: Promise<BaseFolder>;
  readonly stop: AbortController;
  waiting: number;
}

/** The folders that tasks start from. Each is created once on this machine. */
export class BaseFolders {
  readonly #folder: string;
  readonly #store: Store;
  readonly #opening = new Map<string, PendingBase>();

  constructor(folder: string, store: Store) {
    this.#folder = folder;
    this.#store = store;
  }

  async open(base: Submission["base"], signal: AbortSignal, commit?: string): Promise<BaseFolder> {
    if ("hash" in base)
      return this.#openOnce(base.hash, signal, async (to) =>
        applyChanges(to, await this.#store.readBase(base.hash)),
      );
    const revision = commit ?? base.revision;
    // A branch moves, so its commit is looked up for each task, and stored in the task's steps.
    const key = commit === undefined ? `new-${randomBytes(6).toString("hex")}` : `commit-${commit}`;
    const made = await this.#openOnce(key, signal, (to, stop) =>
      cloneProject({ git: base.git, revision }, to, stop),
    );
    const head = (readText(join(made.folder, ".git", "HEAD"), MAX_NAME_BYTES) ?? "").trim();
    if (commit !== undefined) return { ...made, commit };
    // Tasks that start from the same commit share its folder.
    const [own, shared] = [key, `commit-${head}`].map((name) => join(this.#folder, name)) as [string, string];
    await rename(own, shared).catch(() => rm(own, { recursive: true, force: true }));
    this.#opening.delete(key);
    return this.open(base, signal, head);
  }

  async #openOnce(key: string, signal: AbortSignal, make: MakeFolder): Promise<BaseFolder> {
    signal.throwIfAborted();
    const opening = this.#opening.get(key) ?? this.#beginMaking(key, make);
    opening.waiting += 1;
    let stopWaiting = () => {};
    const left = new Promise<never>((_, reject) => {
      stopWaiting = () => {
        opening.waiting -= 1;
        if (opening.waiting === 0) opening.stop.abort();
        reject(signal.reason);
      };
    });
    signal.addEventListener("abort", stopWaiting, { once: true });
    return Promise.race([opening.made, left]).finally(() => signal.removeEventListener("abort", stopWaiting));
  }

  #beginMaking(key: string, make: MakeFolder): PendingBase {
    const stop = new AbortController();
    const opening = { made: this.#makeBase(key, (to) => make(to, stop.signal)), stop, waiting: 0 };
    this.#opening.set(key, opening);
    const forgetOpening = () => {
      if (this.#opening.get(key) === opening) this.#opening.delete(key);
    };
    stop.signal.addEventListener("abort", forgetOpening);
    opening.made.catch(forgetOpening);
    return opening;
  }

  async #makeBase(key: string, make: (to: string) => Promise<void>): Promise<BaseFolder> {
    const place = join(this.#folder, key);
    const base = { folder: join(place, "folder"), git: join(place, "git") };
    if (existsSync(place)) return base;
    // Another process may be creating the same folder. The first one that is complete is kept.
    const own = `${place}.${process.pid}-${randomBytes(3).toString("hex")}`;
    try {
      await mkdir(join(own, "folder"), { recursive: true, mode: 0o700 });
      await make(join(own, "folder"));
      await runTrustedCommand(
        own,
        `git init -q --bare git && ${GIT} -c core.autocrlf=false --git-dir=git --work-tree=folder add -A`,
      );
      await rename(own, place).catch((error) => {
        if (!existsSync(place)) throw error;
      });
    } finally {
      await rm(own, { recursive: true, force: true });
    }
    return base;
  }
}

/** Copies a base for a task to work in. The copy shares disk blocks if the file system supports that. */
export async function copyBase({ folder }: BaseFolder, to: string): Promise<void> {
  await cp(folder, to, { recursive: true, mode: constants.COPYFILE_FICLONE, verbatimSymlinks: true });
}

/** Returns what was changed in a copy of the base, without files that git ignores. */
export async function createPatch({ git }: BaseFolder, copy: string, beside: string): Promise<string> {
  const index = quote(join(beside, "index"));
  const env = `GIT_DIR=${quote(git)} GIT_WORK_TREE=${quote(copy)} GIT_INDEX_FILE=${index}`;
  // Use a new index: if the index already has a repository inside the folder, git would check it for changes and run
  // what its settings name.
  const add = `rm ${index} && ${GIT} -C ${quote(copy)} -c core.autocrlf=false add -A`;
  const diff = "diff --cached --binary --no-color --no-ext-diff --no-textconv";
  // A command of the task may have removed the folder.
  await mkdir(copy, { recursive: true });
  return runGit(
    beside,
    `export ${env} && cp ${quote(join(git, "index"))} ${index} && tree=$(git write-tree) && ${add} && ${GIT} ${diff} "$tree"`,
  );
}

async function cloneProject(
  { git: url, revision }: { git: string; revision: string },
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const [from, at] = [url, revision].map(quote);
  // Pass the URL in variables of git: other processes can see the folder and the arguments.
  const known = insertSecrets(url);
  const secret =
    known === url
      ? ""
      : `export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.$(printf "$BURIN_INPUT").insteadOf" GIT_CONFIG_VALUE_0=${from}; unset BURIN_INPUT; `;
  // Commands do not get variables that look like passwords, so write the value as numbers.
  const octal = [...Buffer.from(known)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const environment = { ...process.env, BURIN_INPUT: octal };
  await runTrustedCommand(to, `${secret}${GIT} clone -q --no-checkout -- ${from} .`, {
    signal,
    ...(secret !== "" && { environment }),
  }).catch((error: Error) => {
    throw new FleetError(`${url} could not be cloned: ${error.message.replaceAll(known, url)}`);
  });
  // A cloned repository has only one local branch, so also try the remote's branches.
  const formatRevParse = (name: string) => `git rev-parse -q --verify --end-of-options ${name}'^{commit}'`;
  await runTrustedCommand(
    to,
    `commit=$(${formatRevParse(at ?? "")} || ${formatRevParse(`origin/${at}`)}) && ${GIT} checkout -q --detach "$commit"`,
    { signal },
  ).catch(createFailureThrower(`${url} has no revision "${revision}" that can be checked out`));
}

/**
 * Replaces variables such as `${BURIN_GIT_NAME}` by the worker's values. Other variables are not available to tasks,
 * because the task's URL decides where they are sent.
 */
function insertSecrets(url: string): string {
  return url.replace(/\$\{(BURIN_GIT_\w+)\}/g, (_, name: string) => {
    const value = process.env[name];
    if (value === undefined)
      throw new FleetError(`this worker lacks the variable ${name}, which ${url} needs`);
    return encodeURIComponent(value);
  });
}

export async function unpackTarball(tarball: string, to: string): Promise<void> {
  await runTrustedCommand(to, `tar -xf ${quote(tarball)}`).catch(
    createFailureThrower(`${tarball} could not be unpacked`),
  );
}

function createFailureThrower(what: string) {
  return (error: Error): never => {
    throw new FleetError(`${what}: ${error.message}`);
  };
}
