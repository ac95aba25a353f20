import { accessSync, constants, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  chooseModel,
  describeError,
  describeMissing,
  findKeyVariable,
  findLocalServers,
  findNearNames,
  findUndoGaps,
  type ReachResult,
  reachModel,
  type Settings,
} from "@burin/core/internal";
import type { ModelChoice } from "@burin/core/sessions";
import { visible } from "../../terminal/output.ts";

export interface Finding {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
}

export function createFindings(name: string) {
  const createFinding =
    (state: Finding["state"]) =>
    (message: string): Finding => ({ name, state, message });
  return { ok: createFinding("ok"), warn: createFinding("warn"), fail: createFinding("fail") };
}

/** Checks whether the user's data can be stored, and whether other users can read it. */
export function examineHome(home: string): Finding {
  const { ok, warn, fail } = createFindings("home");
  try {
    const place = findNearest(home);
    if (!statSync(place).isDirectory()) return fail(`${home} cannot be used: ${place} is not a folder.`);
    accessSync(place, constants.W_OK | constants.X_OK);
    if (place !== home) return ok(`${home} does not exist yet; it is created when it is needed.`);
    const open = process.platform === "win32" ? [] : findReadableByOthers(home);
    if (open.length === 0) return ok(`${home} can be written, and only by you.`);
    return warn(`Other users can read ${open.join(", ")}: chmod -R go-rwx ${home}`);
  } catch (error) {
    return fail(`${home} cannot be written: ${describeError(error)}`);
  }
}

/** Returns the folder itself or its nearest existing parent. A broken link counts as existing. */
function findNearest(folder: string): string {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined || dirname(folder) === folder ? folder : findNearest(dirname(folder));
}

/**
 * Lists the files that other users can read. If only the owner can enter the folder, its files are safe. Files that are
 * shared on purpose are links.
 */
function findReadableByOthers(home: string): string[] {
  const isAccessibleToOthers = (path: string) =>
    ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
  if (!isAccessibleToOthers(home)) return [];
  const files = readdirSync(home).filter(
    (name) => name.endsWith(".json") && isAccessibleToOthers(join(home, name)),
  );
  return [home, ...files];
}

const { ok, warn, fail } = createFindings("model");

/** Says which model would be used and, with `isOnline`, whether its service answers. Never shows the key. */
export async function examineModel(all: Settings, isOnline: boolean, signal: AbortSignal): Promise<Finding> {
  const { model: settings } = all;
  const choice = chooseModel(all, process.env);
  if (choice === null) {
    return fail(
      describeMissing(all, process.env) ??
        "No model is configured: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL, or model.* in settings.json.",
    );
  }
  const { name, provider, baseUrl, apiKey, signer } = choice;
  const address = removeUrlSecrets(baseUrl);
  if (!isHttpUrl(baseUrl)) {
    return fail(
      `${name} (${provider}): "${address}" is not a valid URL: write it as http://host:port/v1 or https://host/v1.`,
    );
  }
  const variable = findKeyVariable(choice, settings);
  const place = typeof apiKey === "function" ? "where the settings say" : variable;
  const isKeyless = apiKey === undefined && signer === undefined;
  const found = signer ? "signed with the keys of AWS" : `key from ${place}`;
  const key = isKeyless ? `no key in ${variable}` : found;
  const general = choice.isGeneral ? " (no model is named, so it is this one)" : "";
  const what = `${name}${general} (${provider}) at ${address}, ${key}`;
  if (!isOnline) {
    if (!isKeyless || isLoopbackUrl(baseUrl)) return ok(`${what}; not contacted (--online contacts it).`);
    return warn(`${what}: most services require one.`);
  }
  const reached = await reachModel(choice, signal);
  if ("fault" in reached) return fail(`${what}: it cannot be reached: ${reached.fault.replace(/\.?$/, ".")}`);
  return describeAnswer(choice, what, reached);
}

/** Judges the service by its answer to the request for its models. */
function describeAnswer(
  { name, provider, baseUrl }: ModelChoice,
  what: string,
  { status, models = [] }: Exclude<ReachResult, { fault: string }>,
): Finding {
  if (status === 401) return fail(`${what}: it refuses the key (HTTP 401).`);
  if (status === 403) return fail(`${what}: it, or a proxy or firewall in between, refuses (HTTP 403).`);
  if (status >= 500) return warn(`${what}: it answers HTTP ${status}.`);
  if (status === 404 && provider.startsWith("openai") && !/\/v\d/.test(baseUrl)) {
    return fail(`${what}: there is no list of models there (HTTP 404); a base URL usually ends in /v1.`);
  }
  if (status < 300 && models.length > 0 && !isModelListed(name, models)) {
    const [near] = findNearNames(name, models);
    const hint = near === undefined ? "burin models --online lists what it has." : `did you mean ${near}?`;
    return fail(`${what}: the service does not list this model; ${hint}`);
  }
  // Do not fail here: not every service lists its models.
  return ok(
    `${what}; it answers${status < 300 ? "" : `, with HTTP ${status} to the question for its models`}.`,
  );
}

/** Whether the service lists this model. Some list a name with its maker or tag, but also accept the name alone. */
export function isModelListed(name: string, models: readonly string[]): boolean {
  return models.some((one) => one === name || one === `${name}:latest` || one.endsWith(`/${name}`));
}

export async function examineLocalServers(signal: AbortSignal): Promise<Finding> {
  const servers = await findLocalServers(AbortSignal.any([signal, AbortSignal.timeout(1000)]));
  const shown = servers.map(
    ({ name, baseUrl, models }) => `${name} at ${baseUrl} (${models.join(", ") || "no models"})`,
  );
  return createFindings("local servers").ok(shown.join("; ") || "No server is listening on the usual ports.");
}

const MAX_NAMED = 3;

/** Says what undo covers in this folder, and what it does not. */
export async function examineUndo(root: string, settings: Settings, signal: AbortSignal): Promise<Finding> {
  const { ok, warn } = createFindings("undo");
  try {
    const gaps = await findUndoGaps({ root, settings, environment: process.env }, signal);
    if (gaps.isTooLarge)
      return warn(
        "This folder is too large to be looked at before each call: edits can be taken back, but not what commands, MCP tools, hooks and checks change.",
      );
    const { paths, hasMoreIgnored, hasUnreadable } = gaps;
    const more = paths.length > MAX_NAMED ? [`${paths.length - MAX_NAMED} more`] : [];
    const here = [
      ...paths.slice(0, MAX_NAMED).map(visible),
      ...more,
      ...(hasMoreIgnored ? ["some of the ignored files, which are too many"] : []),
      ...(hasUnreadable ? ["folders that cannot be read"] : []),
    ];
    const covered =
      "What edits, commands, MCP tools, hooks and checks change here can be taken back, without git";
    const general = "dependencies, products and caches that git ignores, and files above 64 MB";
    return here.length === 0
      ? ok(`${covered}. Not covered: ${general}.`)
      : warn(`${covered}. Not covered: ${general}; here: ${here.join(", ")}.`);
  } catch (error) {
    return warn(`It is not known what can be taken back here: ${describeError(error)}`);
  }
}

function isHttpUrl(baseUrl: string): boolean {
  return URL.canParse(baseUrl.trim()) && /^https?:$/.test(new URL(baseUrl.trim()).protocol);
}

function isLoopbackUrl(baseUrl: string): boolean {
  return /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(baseUrl);
}

/** Removes the parts of a URL that may be secret: user name, password and query. */
export function removeUrlSecrets(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/i, "$1").replace(/[?#].*$/, "");
}
