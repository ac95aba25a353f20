import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildHelperPath, describeError, readText } from "@burin/core/internal";
import { say } from "../../locales/say.ts";
import { delegateKeys } from "../../terminal/signals.ts";
import type { Desk } from "./desk.ts";

const MAX_BYTES = 16 * 1024 * 1024;

/** Lets the user edit a text in their own editor; null if that failed. The extension in `name` tells the type. */
export async function editInEditor(
  desk: Pick<Desk, "terminal" | "view" | "note">,
  text: string,
  name: string,
): Promise<string | null> {
  const editor = process.env.VISUAL || process.env.EDITOR || "";
  if (editor === "") {
    desk.note(say("editor.none"));
    return null;
  }
  let folder = "";
  try {
    return await lendTerminal(desk, async () => {
      folder = mkdtempSync(join(tmpdir(), "burin-edit-"));
      const file = join(folder, name);
      writeFileSync(file, text, { mode: 0o600 });
      await runEditor(editor, file);
      return readText(file, MAX_BYTES);
    });
  } catch (error) {
    desk.note(say("editor.failed", { editor, why: describeError(error) }), true);
    return null;
  } finally {
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
  }
}

/** Gives another program the terminal while `work` runs, then redraws the screen. */
export async function lendTerminal<Result>(
  { terminal, view }: Pick<Desk, "terminal" | "view">,
  work: () => Promise<Result>,
): Promise<Result> {
  view.clearRows();
  terminal.lendToProgram();
  delegateKeys(true);
  try {
    return await work();
  } finally {
    delegateKeys(false);
    terminal.resume();
    view.redraw();
  }
}

/** Runs a command of the user directly in the terminal. Resolves to its exit code, or to the signal that ended it. */
export async function runInTerminal(command: string, folder: string): Promise<number | string> {
  const isWindows = process.platform === "win32";
  const [program, args] = isWindows ? ["cmd", ["/d", "/s", "/c", command]] : ["sh", ["-c", command]];
  const env = { ...process.env, PATH: buildHelperPath(process.env.PATH) };
  const [code, signal] = await once(spawn(program, args, { stdio: "inherit", cwd: folder, env }), "close");
  return code ?? signal;
}

/** Runs the editor, which may be set with arguments as in a shell. Throws if it fails. */
async function runEditor(editor: string, file: string): Promise<void> {
  const isWindows = process.platform === "win32";
  const [program, args] = isWindows
    ? ["cmd", ["/d", "/s", "/c", `${editor} "${file}"`]]
    : ["sh", ["-c", `${editor} "$1"`, "sh", file]];
  const env = { ...process.env, PATH: buildHelperPath(process.env.PATH) };
  const [code, signal] = await once(spawn(program, args, { stdio: "inherit", env }), "close");
  if (code !== 0) throw new Error(`exit ${code ?? signal}`);
}
