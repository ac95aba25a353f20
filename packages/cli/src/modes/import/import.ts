import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { burinHome, sessionSummaries } from "@burin/core";
import { type Io, nothingAfter, type SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { type Output, visible } from "../../terminal/output.ts";
import { readClaude } from "./claude.ts";
import { readCodex } from "./codex.ts";
import type { Found, Places } from "./found.ts";
import { readGemini, readQwen } from "./gemini.ts";
import { type Agent, type Offer, takeOver } from "./take-over.ts";

const AGENTS: Readonly<Record<string, Agent & { readonly read: (places: Places) => Found }>> = {
  claude: { name: "Claude Code", folder: ".claude", variable: "CLAUDE_CONFIG_DIR", read: readClaude },
  codex: { name: "Codex", folder: ".codex", variable: "CODEX_HOME", read: readCodex },
  gemini: { name: "Gemini CLI", folder: ".gemini", read: readGemini },
  qwen: { name: "Qwen Code", folder: ".qwen", variable: "QWEN_HOME", read: readQwen },
};

/** Shows what another agent has that Burin can use, and takes it over when it is told to. Nothing of the other is changed. */
export async function runImport(request: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  nothingAfter("import", request);
  const { own, options } = request;
  const root = await realpath(options.root);
  const isText = options.outputFormat === "text";
  const offer = (from: string) => offerOf(from, root, own.project === true);
  if (own.from === undefined) {
    if (own.apply === true) throw new UsageError("say whose: burin import --from claude --apply");
    const all = await Promise.all(Object.keys(AGENTS).map(offer));
    if (isText) output.out(overview(all));
    else output.out(`${JSON.stringify(all.map(plain), null, 2)}\n`);
    return EXIT.done;
  }
  const from = String(own.from);
  if (!Object.hasOwn(AGENTS, from))
    throw new UsageError(`--from must be ${Object.keys(AGENTS).join(", ")}, not "${from}".`);
  const found = await offer(from);
  if (own.apply === true) await takeOver(found, { home: burinHome(process.env), root });
  if (isText) print(found, own.apply === true, output);
  else output.out(`${JSON.stringify({ ...plain(found), applied: own.apply === true }, null, 2)}\n`);
  return EXIT.done;
}

async function offerOf(from: string, root: string, withProject: boolean): Promise<Offer> {
  const { read, ...agent } = AGENTS[from] as (typeof AGENTS)[string];
  const userHome = process.env.HOME || homedir();
  const folder = process.env[agent.variable ?? ""] || join(userHome, agent.folder);
  const found = read({ folder, userHome, root, withProject });
  const known = new Set((await sessionSummaries(burinHome(process.env), root)).map(({ id }) => id));
  const sessions = found.sessions.flatMap((session) => {
    const { steps } = session.read();
    const prompt = steps.find(({ kind }) => kind === "user");
    if (prompt?.kind !== "user") return [];
    const id = `${from}-${session.id}`.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 100);
    const at = steps.at(-1)?.at ?? prompt.at;
    return [{ ...session, id, of: session.id, prompt: prompt.text, at, isKnown: known.has(id) }];
  });
  sessions.sort((one, other) => (one.at < other.at ? -1 : 1));
  return { from, agent: { ...agent, folder }, found, sessions };
}

function overview(offers: readonly Offer[]): string {
  const lines = offers.map(({ from, agent, found, sessions }) => {
    const { rules, servers, memories, settings } = found;
    const counts = [
      [sessions.length, "session"],
      [rules.length, "rule"],
      [servers.length, "MCP server"],
      [memories.length, "memory file"],
      [settings.length, "setting"],
    ] as const;
    const said = counts.flatMap(([count, what]) =>
      count === 0 ? [] : [`${count} ${what}${count === 1 ? "" : "s"}`],
    );
    return `${from.padEnd(7)} ${agent.name}: ${said.join(", ") || "nothing"}\n`;
  });
  return `${lines.join("")}What exactly, without changing anything: burin import --from NAME\n`;
}

function print({ from, agent, found, sessions }: Offer, isApplied: boolean, output: Output): void {
  const block = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) output.out(visible(`${title}\n${lines.map((line) => `  ${line}\n`).join("")}`));
  };
  output.out(visible(`${isApplied ? "Taken" : "To be taken"} from ${agent.name} (${agent.folder}):\n`));
  const told = sessions.map(({ id, at, prompt, isKnown }) => {
    const words = prompt.replace(/\s+/g, " ").trim().slice(0, 60);
    return `${at.slice(0, 10)}  ${id}  ${words}${isKnown ? "  (was taken before)" : ""}`;
  });
  block("Sessions of this folder", told);
  block(
    "Rules",
    found.rules.map(
      ({ list, rule, of, isOfProject }) => `${list} ${rule}  (${of}${isOfProject ? ", in this folder" : ""})`,
    ),
  );
  block("MCP servers, which start with each session", found.servers.map(shownServer));
  block(
    "Texts for the model, in all projects",
    found.memories.map(({ file, text }) => `${file} (${text.length} characters)`),
  );
  block(
    "Settings",
    found.settings.map(({ path, value }) => `${path.join(".")} = ${JSON.stringify(value)}`),
  );
  block(
    "Left",
    found.left.map(({ what, why }) => `${what}: ${why}`),
  );
  if (!isApplied) output.out(`Nothing was changed. To take it: burin import --from ${from} --apply\n`);
  else if (sessions.length > 0) output.out("To go on: burin -c, or burin -r with the id of a session.\n");
}

/** Values of variables and headers may be secrets. */
function shownServer({ alias, definition }: Found["servers"][number]): string {
  const { command, args, url, httpUrl, env, headers } = definition;
  const where = command === undefined ? [url ?? httpUrl] : [command, ...(Array.isArray(args) ? args : [])];
  const names = [env, headers].flatMap((one) => Object.keys(one ?? {}));
  return `${alias}: ${where.join(" ")}${names.length === 0 ? "" : `  (with ${names.join(", ")})`}`;
}

function plain({ from, agent, found, sessions }: Offer): object {
  const { rules, settings, left } = found;
  return {
    from,
    folder: agent.folder,
    sessions: sessions.map(({ read: _, ...session }) => session),
    rules,
    servers: found.servers.map(shownServer),
    memories: found.memories.map(({ file }) => file),
    settings,
    left,
  };
}
