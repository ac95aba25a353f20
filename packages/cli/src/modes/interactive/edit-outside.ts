import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helperPath, messageOf, readText } from "@burin/core";
import { say } from "../../locales/say.ts";
import { leaveKeysTo } from "../../terminal/signals.ts";
import type { Desk } from "./desk.ts";

const MOST_BYTES = 16 * 1024 * 1024;

/** Lets the user edit a text in their own editor; null when that failed. The name's extension tells its type. */
export async function editOutside(
  desk: Pick<Desk, "terminal" | "view" | "note">,
  text: string,
  name: string,
): Promise<string | null> {
  const { terminal, view } = desk;
  const editor = process.env.VISUAL || process.env.EDITOR || "";
  if (editor === "") {
    desk.note(say("editor.none"));
    return null;
  }
  let folder = "";
  view.leave();
  terminal.lend();
  leaveKeysTo(true);
  try {
    folder = mkdtempSync(join(tmpdir(), "burin-edit-"));
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    await runEditor(editor, file);
    return readText(file, MOST_BYTES);
  } catch (error) {
    desk.note(say("editor.failed", { editor, why: messageOf(error) }), true);
    return null;
  } finally {
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
    leaveKeysTo(false);
    terminal.resume();
    view.begin();
  }
}

/** The editor may be given with arguments, as in a shell. Throws when it fails. */
async function runEditor(editor: string, file: string): Promise<void> {
  const isWindows = process.platform === "win32";
  const [program, args] = isWindows
    ? ["cmd", ["/d", "/s", "/c", `${editor} "${file}"`]]
    : ["sh", ["-c", `${editor} "$1"`, "sh", file]];
  const env = { ...process.env, PATH: helperPath(process.env.PATH) };
  const [code, signal] = await once(spawn(program, args, { stdio: "inherit", env }), "close");
  if (code !== 0) throw new Error(`exit ${code ?? signal}`);
}
