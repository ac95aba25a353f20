import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readText } from "@burin/core";
import { parse as parseJsonWithComments } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { type Fields, type Found, fields } from "./found.ts";

const MOST_BYTES = 128 * 1024 * 1024;
const MOST_DEPTH = 4;

/** The text of a file of another agent; null when there is none, or it cannot be read, which is then said. */
export function textOf(file: string, found: Found): string | null {
  try {
    return readText(file, MOST_BYTES);
  } catch (error) {
    found.leave(file, error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** A settings file in JSON, with comments, or in TOML; empty when there is none or it is broken, which is then said. */
export function settingsIn(file: string, found: Found): Fields {
  const source = textOf(file, found);
  if (source === null) return {};
  try {
    if (file.endsWith(".toml") || file.endsWith(".rules")) return fields(parseToml(source));
    const errors: { readonly offset: number }[] = [];
    const value = fields(parseJsonWithComments(source, errors as [], { allowTrailingComma: true }));
    if (errors[0] !== undefined) throw new Error(`not valid JSON at character ${errors[0].offset}`);
    return value;
  } catch (error) {
    found.leave(file, error instanceof Error ? error.message : String(error));
    return {};
  }
}

/** The objects of a file with one in each line; a line that is none, such as one that was cut off, is skipped. */
export function linesOf(source: string): Fields[] {
  return source.split("\n").flatMap((line) => {
    try {
      return line.trim() === "" ? [] : [fields(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}

/** All files below a folder whose names end so, in the order of their paths. */
export function filesBelow(folder: string, ending: RegExp, depth = MOST_DEPTH): string[] {
  const entries = namesIn(folder);
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? filesBelow(path, ending, depth - 1) : [];
    return entry.isFile() && ending.test(entry.name) ? [path] : [];
  });
}

function namesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    );
  } catch {
    return [];
  }
}
