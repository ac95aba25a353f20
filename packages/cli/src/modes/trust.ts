import { resolve } from "node:path";
import {
  type FolderTrust,
  openTrust,
  readFolderTrust,
  resolveBurinHome,
  type TrustAnswer,
  type TrustState,
} from "@burin/core/internal";
import { resolveFolder } from "../request/read-values.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { formatLocalTime, joinLines, type Output, printFindings } from "../terminal/output.ts";

/** Shows what the folder's own settings would run, and stores whether the user trusts it. Runs nothing. */
export async function run({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [action = "show", folder, tooMuch] = words;
  if (tooMuch !== undefined)
    throw new UsageError(`burin trust ${action} takes one folder, and "${tooMuch}" is a second one.`);
  const home = resolveBurinHome(process.env);
  // Users can also forget a folder that no longer exists.
  const named = action === "forget" ? resolve : resolveFolder;
  const root = folder === undefined ? options.root : named(folder);
  switch (action) {
    case "show": {
      const found = await readFolderTrust({ home, root });
      const document = found ?? { folder: root, effects: [] };
      printFindings(output, options.outputFormat, { document, rows: formatTrust(found, root) });
      return EXIT.done;
    }
    case "list": {
      const all = await (await openTrust(home)).readItems();
      const rows = all.length === 0 ? ["No folders trusted or refused yet."] : all.map(formatRow);
      printFindings(output, options.outputFormat, { document: all, rows });
      return EXIT.done;
    }
    case "yes":
    case "no":
      return storeTrustAnswer({ home, root }, action === "yes", output);
    case "forget": {
      const wasThere = await (await openTrust(home)).forget(root);
      const message = wasThere
        ? "is forgotten: you will be asked about it again"
        : "was neither trusted nor refused";
      output.out(joinLines(`${root} ${message}.`));
      return EXIT.done;
    }
    default:
      throw new UsageError("write burin trust, or burin trust yes, no, forget or list.");
  }
}

/** Stores the decision together with the printed list, because the file may change in the meantime. */
async function storeTrustAnswer(
  place: Parameters<typeof readFolderTrust>[0],
  trusted: boolean,
  output: Output,
): Promise<ExitCode> {
  const { home, root } = place;
  const found = await readFolderTrust(place);
  if (trusted && found?.fault !== undefined) throw new UsageError(`nothing was trusted: ${found.fault}`);
  const effects = found?.effects ?? [];
  await (await openTrust(home)).storeAnswer(root, trusted, effects);
  const folder = found?.folder ?? root;
  const rows = trusted
    ? [
        `${folder} is trusted. ${effects.length === 0 ? "Its settings run nothing." : "Its settings may:"}`,
        ...formatItems(effects),
      ]
    : [`The settings of ${folder} are not followed, and you will not be asked again.`];
  output.out(joinLines(...rows));
  return EXIT.done;
}

function formatRow({ folder, trusted, effects, when }: TrustAnswer): string {
  const what = trusted ? `trusted, ${effects.length} to run` : "never followed";
  return `${folder}  (${what}, ${formatLocalTime(when, 10)})`;
}

const STATES: Readonly<Record<TrustState, string>> = {
  trusted: "is trusted: its settings are followed.",
  untrusted: "is not trusted: its settings are not followed.",
  changed: "was trusted, but its settings have changed since: they are not followed.",
  refused: "is not trusted, as you decided: its settings are not followed.",
};

function formatTrust(found: FolderTrust | null, root: string): string[] {
  if (found === null) return [`${root} has no settings of its own: there is nothing to trust.`];
  const { state, file, effects, added, removed, refused, fault } = found;
  const rows = [`${found.folder} ${STATES[state]}`];
  if (fault !== undefined) rows.push(fault);
  if (effects.length > 0) rows.push(`${file} would:`, ...formatItems(effects, added));
  else if (fault === undefined) rows.push(`${file} runs nothing.`);
  if (removed.length > 0) rows.push("It would no longer:", ...formatItems(removed));
  if (refused.length > 0)
    rows.push(`A project can only make rules stricter, so these never count: ${refused.join(", ")}`);
  if (state !== "trusted") rows.push("To follow them: burin trust yes. To stop being asked: burin trust no.");
  return rows;
}

/** Formats a list; new entries are marked with a plus. */
function formatItems(effects: readonly string[], added: readonly string[] = []): string[] {
  return effects.map((effect) => `  ${added.includes(effect) ? "+" : "-"} ${effect}`);
}
