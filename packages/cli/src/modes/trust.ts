import { resolve } from "node:path";
import { burinHome, type FolderTrust, folderTrust, openTrust, type TrustState } from "@burin/core";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { type Output, visible } from "../terminal/output.ts";

/** Shows what a folder's own settings would run, and stores the user's decision about it. Runs nothing. */
export async function runTrust({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [action = "show", folder, tooMuch] = words;
  if (tooMuch !== undefined)
    throw new UsageError(`burin trust ${action} takes one folder, and "${tooMuch}" is a second one.`);
  const home = burinHome(process.env);
  const root = folder === undefined ? options.root : resolve(folder);
  const isText = options.outputFormat === "text";
  switch (action) {
    case "show": {
      const found = await folderTrust({ home, root });
      if (isText) output.out(`${visible(shown(found, root))}\n`);
      else output.out(`${JSON.stringify(found ?? { folder: root, effects: [] }, null, 2)}\n`);
      return EXIT.done;
    }
    case "list":
      return list(home, isText, output);
    case "yes":
    case "no":
      return answer({ home, root, trusted: action === "yes", output });
    case "forget": {
      const wasThere = await (await openTrust(home)).forget(root);
      const message = wasThere
        ? "is forgotten: you will be asked about it again"
        : "was neither trusted nor refused";
      output.out(`${visible(`${root} ${message}.`)}\n`);
      return EXIT.done;
    }
    default:
      throw new UsageError("write burin trust, or burin trust yes, no, forget or list.");
  }
}

interface Answer {
  readonly home: string;
  readonly root: string;
  readonly trusted: boolean;
  readonly output: Output;
}

/** The answer is stored with the printed list, not with what the file contains a moment later. */
async function answer({ home, root, trusted, output }: Answer): Promise<ExitCode> {
  const found = await folderTrust({ home, root });
  if (trusted && found?.fault !== undefined) throw new UsageError(`nothing was trusted: ${found.fault}`);
  const effects = found?.effects ?? [];
  await (await openTrust(home)).answer(root, trusted, effects);
  const folder = found?.folder ?? root;
  const lines = trusted
    ? [
        `${folder} is trusted. ${effects.length === 0 ? "Its settings run nothing." : "Its settings may:"}`,
        ...items(effects),
      ]
    : [`The settings of ${folder} are not followed, and you will not be asked again.`];
  output.out(`${visible(lines.join("\n"))}\n`);
  return EXIT.done;
}

async function list(home: string, isText: boolean, output: Output): Promise<ExitCode> {
  const all = await (await openTrust(home)).all();
  if (!isText) output.out(`${JSON.stringify(all, null, 2)}\n`);
  else if (all.length === 0) output.out("No folders trusted or refused yet.\n");
  else {
    for (const { folder, trusted, effects, when } of all) {
      const what = trusted ? `trusted, ${effects.length} to run` : "never followed";
      output.out(`${visible(`${folder}  (${what}, ${when.slice(0, 10)})`)}\n`);
    }
  }
  return EXIT.done;
}

const STATES: Readonly<Record<TrustState, string>> = {
  trusted: "is trusted: its settings are followed.",
  untrusted: "is not trusted: its settings are not followed.",
  changed: "was trusted, but its settings have changed since: they are not followed.",
  refused: "is not trusted, as you decided: its settings are not followed.",
};

function shown(found: FolderTrust | null, root: string): string {
  if (found === null) return `${root} has no settings of its own: there is nothing to trust.`;
  const { state, file, effects, added, removed, refused, fault } = found;
  const lines = [`${found.folder} ${STATES[state]}`];
  if (fault !== undefined) lines.push(fault);
  if (effects.length > 0) lines.push(`${file} would:`, ...items(effects, added));
  else if (fault === undefined) lines.push(`${file} runs nothing.`);
  if (removed.length > 0) lines.push("It would no longer:", ...items(removed));
  if (refused.length > 0)
    lines.push(`A project can only make rules stricter, so these never count: ${refused.join(", ")}`);
  if (state !== "trusted")
    lines.push("To follow them: burin trust yes. To stop being asked: burin trust no.");
  return lines.join("\n");
}

/** New ones are marked with a plus. */
function items(effects: readonly string[], added: readonly string[] = []): string[] {
  return effects.map((effect) => `  ${added.includes(effect) ? "+" : "-"} ${effect}`);
}
