import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { cloneRepository, readText } from "@burin/core";
import { UsageError } from "../../terminal/exit-code.ts";

const MARKETPLACES = [
  "marketplace.json",
  ".claude-plugin/marketplace.json",
  ".agents/plugins/marketplace.json",
];
const MOST_BYTES = 4 * 1024 * 1024;

/** A folder, the address of a repository, or a marketplace and the name of a plugin that it lists. */
export type Source = readonly [source: string, chosen: string | undefined];

/** Works with the folder of a plugin, wherever that comes from; what was fetched is removed afterwards. */
export async function withPlugin(
  [source, chosen]: Source,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const fetched = mkdtempSync(join(tmpdir(), "burin-plugin-"));
  let count = 0;
  const folderOf = async (from: string): Promise<string> => {
    if (!isAddress(from)) return resolve(from);
    const [url = "", branch] = from.split("#");
    count += 1;
    const folder = join(fetched, `${count}`);
    try {
      await cloneRepository(url, folder, branch);
    } catch (error) {
      throw new UsageError(`${from} could not be fetched: ${error instanceof Error ? error.message : error}`);
    }
    return folder;
  };
  try {
    const folder = await folderOf(source);
    const file = MARKETPLACES.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (folder.endsWith(".json")) return await work(await folderOf(listed(folder, chosen)));
    if (file !== undefined && (chosen !== undefined || !existsSync(join(folder, "plugin.json"))))
      return await work(await folderOf(listed(file, chosen)));
    return await work(folder);
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

function isAddress(source: string): boolean {
  return /^(?:https?|ssh|git|file):\/\//.test(source) || /^[\w.-]+@[\w.-]+:/.test(source);
}

/** Where the chosen plugin of a marketplace is. */
function listed(file: string, chosen: string | undefined): string {
  const { plugins = [], metadata } = JSON.parse(readText(file, MOST_BYTES) ?? "{}") as Marketplace;
  const names = plugins.map(({ name }) => name).join(", ");
  const found = plugins.find(({ name }) => name === chosen);
  if (found === undefined)
    throw new UsageError(
      `${chosen === undefined ? "choose a plugin" : `there is no plugin "${chosen}"`}: ${names}.`,
    );
  const { source } = found;
  // A marketplace in a folder of its own lists what lies beside that folder.
  const top = dirname(file).replace(/[/\\]\.(?:claude-plugin|agents[/\\]plugins)$/, "");
  if (typeof source === "string") {
    const inside = resolve(top, metadata?.pluginRoot ?? ".", source);
    if (!isAddress(source) && !inside.startsWith(top))
      throw new UsageError(`${source} lies outside the marketplace.`);
    return isAddress(source) ? source : inside;
  }
  const { repo, url, ref } = source ?? {};
  const address = url ?? (repo === undefined ? undefined : `https://github.com/${repo}.git`);
  if (address === undefined || !isAddress(address))
    throw new UsageError(`the marketplace does not say where ${chosen} is in a way that Burin knows.`);
  return ref === undefined ? address : `${address}#${ref}`;
}

interface Marketplace {
  readonly metadata?: { readonly pluginRoot?: string };
  readonly plugins?: readonly {
    readonly name: string;
    readonly source?: string | { readonly repo?: string; readonly url?: string; readonly ref?: string };
  }[];
}
