import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildHelperPath, detectMediaKind, readBytes, withFallback } from "@burin/core/internal";
import type { InlineData } from "@burin/core/sessions";
import { say } from "../../locales/say.ts";

const MAX_BYTES = 20 * 1024 * 1024;
const MAX_CLIPBOARD_MS = 5000;
/** Excludes BMP, which no service accepts; given its path, a model can at least convert it. */
const IMAGE = /^image\/(?!bmp$)/;
/** Matches one shell word: terminals write the paths of dropped files in this form. */
const WORD = /(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g;
const WINDOWS_IMAGE =
  "$i = Get-Clipboard -Format Image; if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, 'Png'); [Convert]::ToBase64String($m.ToArray()) }";

/** The images of a prompt. The text has a mark for each, `[image 1]`; images without a mark are not sent. */
export class Images {
  readonly #known = new Map<string, InlineData>();

  /** Returns marks for a pasted text that consists only of image paths; null for any other text. */
  markPaths(pasted: string, root: string): string | null {
    const paths = parsePastedPaths(pasted, root);
    const images = paths.map(readImageFile);
    if (images.length === 0 || images.includes(null)) return null;
    return images.map((image) => this.#addMark(image as InlineData)).join(" ");
  }

  /** Returns the mark for the image in the clipboard; null if there is none, or no program that can read it. */
  async markClipboard(): Promise<string | null> {
    for (const [program, args] of listClipboardReaders()) {
      const bytes = await runReader(program, args);
      const image = bytes && (readImage(bytes) ?? readImage(Buffer.from(bytes.toString("latin1"), "base64")));
      if (image) return this.#addMark(image);
    }
    return null;
  }

  /** Returns the images whose marks are in the text. */
  in(text: string): InlineData[] {
    return [...this.#known].flatMap(([mark, image]) => (text.includes(mark) ? [image] : []));
  }

  #addMark(image: InlineData): string {
    const mark = say("image.mark", { number: this.#known.size + 1 });
    this.#known.set(mark, image);
    return mark;
  }
}

function parsePastedPaths(pasted: string, root: string): string[] {
  const text = pasted.trim();
  if (text === "" || /[\n\r]/.test(text)) return [];
  const words = /^[A-Za-z]:\\/.test(text) ? [text] : (text.match(WORD) ?? []).map(unquoteWord);
  // The whole text may be one unquoted path with spaces.
  return [[text], words].map((all) => all.map((word) => resolveImagePath(word, root))).find(areFiles) ?? [];
}

function unquoteWord(word: string): string {
  return word.replace(/'[^']*'|"[^"]*"|\\./g, (part) =>
    part[0] === "\\" ? part.slice(1) : part.slice(1, -1),
  );
}

function resolveImagePath(word: string, root: string): string {
  if (word.startsWith("file://")) return withFallback(word, () => fileURLToPath(word));
  return resolve(root, word.replace(/^~(?=[/\\])/, homedir));
}

function areFiles(paths: readonly string[]): boolean {
  return paths.every((path) => withFallback(false, () => statSync(path).isFile()));
}

function readImageFile(path: string): InlineData | null {
  const bytes = withFallback(null, () => readBytes(path, MAX_BYTES));
  return bytes && readImage(bytes);
}

/** Recognises an image by its first bytes, because the extension is not reliable. */
function readImage(bytes: Buffer): InlineData | null {
  const { mimeType = "" } = detectMediaKind(bytes) ?? {};
  return IMAGE.test(mimeType) ? { mimeType, data: bytes.toString("base64") } : null;
}

function listClipboardReaders(): [program: string, args: string[]][] {
  const { WAYLAND_DISPLAY, DISPLAY } = process.env;
  if (process.platform === "darwin") return [["pngpaste", ["-"]]];
  if (process.platform === "win32")
    return [["powershell", ["-NoProfile", "-Sta", "-Command", WINDOWS_IMAGE]]];
  const found: [program: string, args: string[]][] = [];
  if (WAYLAND_DISPLAY) found.push(["wl-paste", ["-t", "image/png"]]);
  if (DISPLAY) found.push(["xclip", ["-selection", "clipboard", "-t", "image/png", "-o"]]);
  return found;
}

async function runReader(program: string, args: readonly string[]): Promise<Buffer | null> {
  const { execFile } = await import("node:child_process");
  const env = { ...process.env, PATH: buildHelperPath(process.env.PATH) };
  const options = { encoding: "buffer", maxBuffer: MAX_BYTES, timeout: MAX_CLIPBOARD_MS, env } as const;
  return new Promise((done) => {
    execFile(program, args, options, (error, stdout) => done(error || stdout.length === 0 ? null : stdout));
  });
}
