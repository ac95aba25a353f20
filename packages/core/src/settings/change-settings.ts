import { applyEdits, modify } from "jsonc-parser";
import { changeHomeFile } from "./home-file.ts";
import { parseLayer } from "./parse-layer.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Sets one value in a settings file, or takes it out when it is undefined. Comments, the order and everything else
 * stay as they are. Throws SettingsError, and leaves the file alone, when it is broken or would be.
 */
export function changeSettingsFile(file: string, path: readonly string[], value: unknown): Promise<void> {
  return changeHomeFile(file, (before) => {
    const mark = before?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    const given = (before ?? "").slice(mark.length);
    const text = given.trim() === "" ? "{}\n" : given;
    parseLayer(file, text);
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
    const after = applyEdits(text, modify(text, [...path], value, { formattingOptions }));
    parseLayer(file, after);
    return mark + after;
  });
}
