import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { listSessionSummaries, resolveBurinHome, withFallback } from "@burin/core/internal";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import {
  formatBlock,
  formatCount,
  formatLocalTime,
  printFindings,
  shortenLine,
} from "../../terminal/output.ts";
import { AGENTS, readAgent } from "./agents.ts";
import type { Found, FoundSession } from "./found.ts";
import { applyImport, type ImportOptions, type Offer, type OfferedSession } from "./take-over.ts";

const MAX_FOLDERS_NAMED = 5;

/** Shows which of another agent's data Burin can use, and imports it on request. The original is never changed. */
export async function run(
  { subcommandOptions, options }: SubcommandRequest,
  { output }: Io,
): Promise<ExitCode> {
  const root = realpathSync(options.root);
  const isApplied = subcommandOptions.apply === true;
  const home = resolveBurinHome(process.env);
  const chosen = {
    home,
    root,
    isApplied,
    isAll: subcommandOptions.all === true,
    withProject: subcommandOptions.project === true,
  };
  const applyOffer = async (from: string) => applyImport(await buildOffer(from, chosen), chosen);
  if (subcommandOptions.from === undefined) {
    if (isApplied) throw new UsageError("say whose: burin import --from claude --apply");
    const all = await Promise.all(Object.keys(AGENTS).map(applyOffer));
    printFindings(output, options.outputFormat, {
      document: all.map(toPlainOffer),
      rows: formatOverview(all),
    });
    return EXIT.done;
  }
  const from = String(subcommandOptions.from);
  if (!Object.hasOwn(AGENTS, from))
    throw new UsageError(`--from must be ${Object.keys(AGENTS).join(", ")}, not "${from}".`);
  const shown = await applyOffer(from);
  const document = { ...toPlainOffer(shown), applied: isApplied };
  printFindings(output, options.outputFormat, { document, rows: formatRows(shown, isApplied) });
  return shown.found.failed.length === 0 ? EXIT.done : EXIT.failed;
}

async function buildOffer(from: string, { home, root, isAll, withProject }: ImportOptions): Promise<Offer> {
  const agent = AGENTS[from] as (typeof AGENTS)[string];
  const userHome = process.env.HOME || homedir();
  const folder = process.env[agent.variable ?? ""] || join(userHome, agent.folder);
  const found = readAgent(agent, { folder, userHome, root, withProject });
  const known = new Set((await listSessionSummaries(home, null)).map(({ id }) => id));
  const elsewhere: string[] = [];
  const sessions: OfferedSession[] = [];
  for (const session of found.sessions) {
    const held = session.folder === "" ? null : withFallback(null, () => realpathSync(session.folder));
    if (held !== null && (isAll || held === root)) {
      const id = `${from}-${session.id}`.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 100);
      sessions.push(...prepareSession(session, { id, root: held, isKnown: known.has(id) }));
    } else if (isAll)
      found.noteLeftOut(
        session.file,
        session.folder === ""
          ? "its record does not name its folder: give that with --root"
          : `its folder ${session.folder} is not there`,
      );
    else elsewhere.push(session.folder || "folders that are not known");
  }
  noteSessionsElsewhere(found, elsewhere);
  sessions.sort((one, other) => (one.at < other.at ? -1 : 1));
  return { from, name: agent.name, folder, found, sessions };
}

/** Returns the session in a list, or an empty list if it has no messages. */
function prepareSession(
  session: FoundSession,
  own: Pick<OfferedSession, "id" | "root" | "isKnown">,
): OfferedSession[] {
  const { steps } = session.read();
  const prompt = steps.find(({ kind }) => kind === "user");
  if (prompt?.kind !== "user") return [];
  return [{ ...session, ...own, of: session.id, prompt: prompt.text, at: steps.at(-1)?.at ?? prompt.at }];
}

function noteSessionsElsewhere(found: Found, folders: readonly string[]): void {
  if (folders.length === 0) return;
  const names = [...new Set(folders)];
  const more = names.length > MAX_FOLDERS_NAMED ? `, and ${names.length - MAX_FOLDERS_NAMED} more` : "";
  const what = `${formatCount(folders.length, "session")} of ${formatCount(names.length, "other folder")}`;
  const where = `${names.slice(0, MAX_FOLDERS_NAMED).join(", ")}${more}`;
  found.noteLeftOut(`${what} (${where})`, "add --all to take them, or name one folder with --root");
}

/** What is imported besides sessions: the singular noun, the heading, and a function for the lines. */
const KINDS: readonly (readonly [what: string, title: string, entries: (found: Found) => string[]])[] = [
  ["rule", "Rules", ({ rules }) => rules.map(formatRule)],
  ["MCP server", "MCP servers, which start with each session", ({ servers }) => servers.map(formatServer)],
  [
    "memory file",
    "Texts for the model, in all projects",
    ({ memories }) => memories.map(({ file, text }) => `${file} (${text.length} characters)`),
  ],
  [
    "setting",
    "Settings",
    ({ settings }) => settings.map(({ path, value }) => `${path.join(".")} = ${JSON.stringify(value)}`),
  ],
];

/** Counts the entries of each kind in words; empty if there are none. */
function formatAmounts({ found, sessions }: Offer): string {
  const counts = KINDS.map(([what, , entries]) => [entries(found).length, what] as const);
  return [[sessions.length, "session"] as const, ...counts]
    .flatMap(([count, what]) => (count === 0 ? [] : [formatCount(count, what)]))
    .join(", ");
}

function formatOverview(offers: readonly Offer[]): string[] {
  const rows = offers.map((offer) => {
    const { length } = offer.found.left;
    const left = length === 0 ? "" : `; left: ${length}`;
    return `${offer.from.padEnd(7)} ${offer.name}: ${formatAmounts(offer) || "nothing"}${left}`;
  });
  return [...rows, "What exactly, and why some is left: burin import --from NAME, which changes nothing"];
}

function formatRows(offer: Offer, isApplied: boolean): string[] {
  const { from, name, folder, found, sessions } = offer;
  const isNothing = formatAmounts(offer) === "";
  const none = found.failed.length === 0 ? "Nothing to take" : "Nothing was taken";
  const taken = isNothing ? none : isApplied ? "Taken" : "To be taken";
  const rows = [
    `${taken} from ${name} (${folder})${isNothing ? "." : ":"}`,
    ...[...new Set(sessions.map(({ root }) => root))].flatMap((root) => {
      const held = sessions.filter((session) => session.root === root);
      return formatBlock(`Sessions of ${root}`, held.map(formatSession));
    }),
    ...KINDS.flatMap(([, title, entries]) => formatBlock(title, entries(found))),
    ...formatBlock("Left", found.left.map(describeReason)),
    ...formatBlock("Not written", found.failed.map(describeReason)),
  ];
  if (isNothing) return rows;
  if (!isApplied) return [...rows, `Nothing was changed. To take it: burin import --from ${from} --apply`];
  return sessions.length === 0
    ? rows
    : [...rows, "To go on: burin -c, or burin -r with the id of a session."];
}

function describeReason({ what, why }: Found["left"][number]): string {
  return `${what}: ${why}`;
}

function formatRule({ list, rule, of, isOfProject }: Found["rules"][number]): string {
  return `${list} ${rule}  (${of}${isOfProject ? ", in this folder" : ""})`;
}

function formatSession({ id, at, prompt, isKnown }: OfferedSession): string {
  return `${formatLocalTime(at, 10)}  ${id}  ${shortenLine(prompt, 60)}${isKnown ? "  (was taken before)" : ""}`;
}

/** Shows a server with the names of its variables and headers only, because their values may be secret. */
function formatServer({ alias, definition }: Found["servers"][number]): string {
  const { command, args, url, httpUrl, env, headers } = definition;
  const where = command === undefined ? [url ?? httpUrl] : [command, ...(Array.isArray(args) ? args : [])];
  const names = [env, headers].flatMap((one) => Object.keys(one ?? {}));
  return `${alias}: ${where.join(" ")}${names.length === 0 ? "" : `  (with ${names.join(", ")})`}`;
}

function toPlainOffer({ from, folder, found, sessions }: Offer): object {
  const { rules, settings, left, failed } = found;
  return {
    from,
    folder,
    sessions: sessions.map(({ read: _, ...session }) => session),
    rules,
    servers: found.servers.map(formatServer),
    memories: found.memories.map(({ file }) => file),
    settings,
    left,
    failed,
  };
}
