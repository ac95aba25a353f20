import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { parseOutsideJson } from "@burin/contract/messages/untrusted-json";
import type { Settings } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { splitShellWords } from "@burin/contract/text/shell-words";
import type { Tool, ToolSource } from "@burin/contract/tools";
import { jsonFault } from "../settings/json-fault.ts";
import { DiscoveredTool, faultOf, lastWordsOf, type RunToolCommand } from "./discovered-tool.ts";
import { readDeclarations } from "./read-declarations.ts";

export interface CommandSourceNeeds {
  readonly settings: Settings["tools"];
  readonly root: string;
  readonly run: RunToolCommand;
  /** Called for entries that are left out. */
  readonly report: (problem: string) => void;
  /** Prefixes of names that belong to others, e.g. the alias of an MCP server. */
  readonly reservedPrefixes: readonly string[];
}

const MOST_PROBLEMS = 10;

/** Tools that a command in the settings declares. */
export class CommandSource implements ToolSource {
  readonly name = "discovery command";
  readonly patience = 2000;
  readonly #needs: CommandSourceNeeds;
  #files = "";

  constructor(needs: CommandSourceNeeds) {
    this.#needs = needs;
  }

  async discover(signal: AbortSignal): Promise<readonly Tool[]> {
    const { settings, run, reservedPrefixes, report } = this.#needs;
    const { toolDiscoveryCommand: command = "", toolDiscoverySeconds: seconds } = settings;
    const { toolCallCommand: callCommand, toolCallSeconds: callSeconds } = settings;
    if (callCommand === undefined) {
      throw new Error(
        "tools.toolDiscoveryCommand is set, but tools.toolCallCommand, which runs the tools, is not",
      );
    }
    this.#files = await this.#filesNow();
    const end = await run({ command, input: "", seconds, signal });
    const fault = faultOf(end, seconds);
    if (fault !== null) {
      const said = lastWordsOf(end);
      throw new Error(`${command} ${fault}${said === "" ? "" : `: ${said}`}`);
    }
    const { declarations, problems } = await declaredIn(end.stdout.toString("utf8"), command);
    const free: typeof declarations = [];
    for (const one of declarations) {
      const prefix = reservedPrefixes.find((start) => one.name.startsWith(start));
      if (prefix === undefined) free.push(one);
      else problems.push(`"${one.name}" was left out: names with ${prefix} belong to that MCP server`);
    }
    for (const problem of problems.slice(0, MOST_PROBLEMS)) report(problem);
    const more = problems.length - MOST_PROBLEMS;
    if (more > 0) report(`${more} more entries were left out`);
    return free.map((one) => new DiscoveredTool(one, { callCommand, callSeconds, run }));
  }

  async isStale(): Promise<boolean> {
    return this.#files !== (await this.#filesNow());
  }

  /** The state of the files in the command: when one changes, the tools may have changed too. */
  async #filesNow(): Promise<string> {
    const { toolDiscoveryCommand: command = "" } = this.#needs.settings;
    const words = splitShellWords(command) ?? command.split(/\s+/);
    const states = await Promise.all(
      words.map(async (word) => {
        const found = await stat(resolve(this.#needs.root, word)).catch(() => null);
        return found?.isFile() ? `${word} ${found.mtimeMs} ${found.size} ${found.ino}` : "";
      }),
    );
    return states.join("\n");
  }
}

async function declaredIn(text: string, command: string) {
  const json = text.replace(/^\uFEFF/, "");
  let what = "is not JSON";
  try {
    const value = parseOutsideJson(json);
    what = "cannot be used";
    return readDeclarations(value);
  } catch (error) {
    const where = what === "is not JSON" ? await jsonFault(json) : null;
    throw new Error(`What ${command} printed ${what}: ${where ?? messageOf(error)}`);
  }
}
