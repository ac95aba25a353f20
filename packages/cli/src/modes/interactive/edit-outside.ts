import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helperPath, messageOf, readText } from "@burin/core";
import { say } from "../../locales/say.ts";
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
  const folder = mkdtempSync(join(tmpdir(), "burin-edit-"));
  const file = join(folder, name);
  view.leave();
  terminal.suspend();
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const fault = await faultOf(editor, file);
    if (fault === null) return readText(file, MOST_BYTES);
    desk.note(say("editor.failed", { editor, why: fault }), true);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    terminal.resume();
    view.begin();
  }
}

/** The editor may be given with arguments, as in a shell. */
function faultOf(editor: string, file: string): Promise<string | null> {
  const isWindows = process.platform === "win32";
  const [program, args] = isWindows
    ? ["cmd", ["/d", "/s", "/c", `${editor} "${file}"`]]
    : ["sh", ["-c", `${editor} "$1"`, "sh", file]];
  const env = { ...process.env, PATH: helperPath(process.env.PATH) };
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", env });
    child.on("error", (error) => resolve(messageOf(error)));
    child.on("close", (code) => resolve(code === 0 ? null : `exit ${code}`));
  });
}
