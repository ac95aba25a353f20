import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import type { JsonSchema } from "@burin/core";
import { cloneRepository, describeError, fetchSiteSkills } from "@burin/core/internal";
import { UsageError } from "../../terminal/exit-code.ts";
import { PLUGIN_SCHEMA, readJson, resolveInFolder } from "./read-plugin.ts";

const MARKETPLACES = [
  "marketplace.json",
  ".claude-plugin/marketplace.json",
  ".agents/plugins/marketplace.json",
];
const TEXT: JsonSchema = { type: "string" };
const SOURCE: JsonSchema = {
  type: "object",
  properties: { repo: TEXT, url: TEXT, ref: TEXT, sha: TEXT, path: TEXT },
};
const MARKETPLACE: JsonSchema = {
  type: "object",
  required: ["plugins"],
  properties: {
    metadata: { type: "object", properties: { pluginRoot: TEXT } },
    plugins: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: TEXT, source: { anyOf: [TEXT, SOURCE] } },
      },
    },
  },
};

/** A plugin's source: a folder, a repository's URL, a site with skills, or a marketplace and a plugin's name. */
export type Source = readonly [source: string, chosen?: string | undefined];

/** Makes a source independent of the current folder. */
export function resolveSource([source, chosen]: Source): Source {
  const from = isAddress(source) ? source : resolve(source);
  return chosen === undefined ? [from] : [from, chosen];
}

/** Calls `work` with the folder of a plugin from any source. Removes what it fetched afterwards. */
export async function withPluginFolder(
  [source, chosen]: Source,
  work: (folder: string, left: readonly string[]) => Promise<void>,
): Promise<void> {
  const fetched = mkdtempSync(join(tmpdir(), "burin-plugin-"));
  let count = 0;
  const fetchFolder = async (from: string): Promise<string> => {
    if (!isAddress(from)) return assertExisting(from);
    const [url = "", branch] = from.split("#");
    count += 1;
    const folder = join(fetched, `${count}`);
    await cloneRepository(url, folder, { at: branch, environment: process.env }).catch(
      createFetchError(from),
    );
    return folder;
  };
  try {
    const site = parseSite(source);
    if (site !== null) return await work(fetched, await fetchSkills(site, fetched, chosen));
    const folder = await fetchFolder(source);
    const offered = MARKETPLACES.map((name) => join(folder, name)).find((path) => existsSync(path));
    const isChosen = chosen !== undefined || !existsSync(join(folder, "plugin.json"));
    const file = folder.endsWith(".json") ? folder : isChosen ? offered : undefined;
    if (file === undefined) return await work(folder, []);
    const [from, path] = findMarketplaceEntry(file, chosen);
    return await work(resolveInside(await fetchFolder(from), path), []);
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

/** Resolves a path in a folder. Throws if it leads outside, even through a link. */
function resolveInside(folder: string, path: string): string {
  const place = resolve(folder, path);
  const real = resolveInFolder(realpathSync(folder), path);
  if (!`${place}${sep}`.startsWith(join(folder, sep)) || (real === null && existsSync(place)))
    throw new UsageError(`${path} lies outside the marketplace.`);
  return real ?? assertExisting(place);
}

function assertExisting(path: string): string {
  if (!existsSync(path)) throw new UsageError(`${resolve(path)} does not exist.`);
  return resolve(path);
}

function createFetchError(from: string) {
  return (error: unknown): never => {
    throw new UsageError(`${from} could not be fetched: ${describeError(error)}`);
  };
}

/** Returns the URL of a site with skills, or null: a repository is never a whole site or an index of skills. */
function parseSite(source: string): URL | null {
  if (!/^https?:\/\//.test(source) || !URL.canParse(source)) return null;
  const url = new URL(source);
  return url.pathname === "/" || url.pathname.endsWith("/agent-skills/index.json") ? url : null;
}

/** Fetches a site's skills, or the chosen one, as a plugin named after the site. Returns what was left out. */
async function fetchSkills(site: URL, folder: string, chosen?: string): Promise<readonly string[]> {
  const { skills, left } = await fetchSiteSkills(site, chosen).catch(createFetchError(site.href));
  const name = [site.host.replace(/[^a-z0-9.-]/g, "-"), ...(chosen === undefined ? [] : [chosen])].join(".");
  const manifest = { $schema: PLUGIN_SCHEMA, name: name.slice(0, 64), description: `Skills of ${site.host}` };
  writeFileSync(join(folder, "plugin.json"), JSON.stringify(manifest));
  for (const { name: skill, files } of skills) {
    for (const [path, bytes] of files) {
      const file = join(folder, "skills", skill, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    }
  }
  return left;
}

function isAddress(source: string): boolean {
  return /^(?:https?|ssh|git|file):\/\//.test(source) || /^[\w.-]+@[\w.-]+:/.test(source);
}

/** Finds the chosen plugin in a marketplace. Returns its source and its folder there. */
function findMarketplaceEntry(file: string, chosen: string | undefined): [from: string, path: string] {
  const { plugins = [], metadata } = (readJson(file, MARKETPLACE) ?? {}) as Marketplace;
  const names = plugins.map(({ name }) => name).join(", ") || "it lists none";
  const found = plugins.find(({ name }) => name === chosen);
  if (found === undefined)
    throw new UsageError(
      `${chosen === undefined ? "choose a plugin" : `there is no plugin "${chosen}"`}: ${names}.`,
    );
  const { source } = found;
  // A marketplace file in its own folder lists plugins relative to the parent folder.
  const top = dirname(file).replace(/[/\\]\.(?:claude-plugin|agents[/\\]plugins)$/, "");
  if (typeof source === "string")
    return isAddress(source) ? [source, "."] : [top, resolve(top, metadata?.pluginRoot ?? ".", source)];
  const { repo, url, ref, sha, path = "." } = source ?? {};
  const address = url ?? (repo === undefined ? undefined : `https://github.com/${repo}.git`);
  if (address === undefined || !isAddress(address))
    throw new UsageError(`the marketplace does not say where ${chosen} is in a way that Burin knows.`);
  const at = sha ?? ref;
  return [at === undefined ? address : `${address}#${at}`, path];
}

interface Marketplace {
  readonly metadata?: { readonly pluginRoot?: string };
  readonly plugins?: readonly {
    readonly name: string;
    readonly source?: string | { readonly [Key in "repo" | "url" | "ref" | "sha" | "path"]?: string };
  }[];
}
