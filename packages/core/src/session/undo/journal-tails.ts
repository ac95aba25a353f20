import { closeSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";
import { tryReadEntries } from "@burin/files/disk/disk-looks";
import { openRegularFile } from "@burin/files/disk/regular-file";
import type { Content } from "./content.ts";
import type { FileChange, JournalLine } from "./journal-line.ts";

/** Changes that others recorded while a call ran: other calls, other sessions, and the file tools. */
export interface ForeignChanges {
  /** The content that they left at each path. */
  readonly files: ReadonlyMap<string, Content | null>;
  /** The commit that they left each ref at. */
  readonly refs: ReadonlyMap<string, string | null>;
  /** true if other calls are among them, whose changes could be mistaken for this call's. */
  readonly hasCalls: boolean;
}

const MAX_TAIL_BYTES = 64 * 1024 * 1024;

/** Reads what is added to the journals of a folder from now on. */
export class JournalTails {
  readonly #folder: string;
  readonly #sizes: ReadonlyMap<string, number>;

  /** `sizes` are the positions from which to read, if another process noted them. */
  constructor(folder: string, sizes?: Readonly<Record<string, number>>) {
    this.#folder = folder;
    this.#sizes = sizes === undefined ? this.#readSizes() : new Map(Object.entries(sizes));
  }

  get sizes(): Record<string, number> {
    return Object.fromEntries(this.#sizes);
  }

  read(): ForeignChanges {
    const files = new Map<string, Content | null>();
    const refs = new Map<string, string | null>();
    const lines = [...this.#readSizes()].flatMap(([name, size]) => this.#readLines(name, size));
    const changes = lines.flatMap((line) => {
      if (line.type === "change") return [line];
      return line.type === "changes"
        ? [...line.changes, ...(line.git ?? []).flatMap(({ files: all }) => all)]
        : [];
    });
    for (const { file, after } of changes) files.set(file, after);
    for (const line of lines) {
      if (line.type === "forgotten") for (const path of listPaths(changes, line.id)) files.delete(path);
      if (line.type !== "changes") continue;
      for (const { name, after } of (line.git ?? []).flatMap(({ refs: all }) => all)) refs.set(name, after);
    }
    return { files, refs, hasCalls: lines.some(({ type }) => type === "changes") };
  }

  #readSizes(): Map<string, number> {
    const journals = tryReadEntries(this.#folder).filter(({ name }) => name.endsWith(".jsonl"));
    return new Map(
      journals.map(({ name }) => [name, withFallback(0, () => statSync(join(this.#folder, name)).size)]),
    );
  }

  #readLines(name: string, size: number): JournalLine[] {
    const from = this.#sizes.get(name) ?? 0;
    if (size <= from || size - from > MAX_TAIL_BYTES) return [];
    const bytes = withFallback(Buffer.alloc(0), () => readPart(join(this.#folder, name), from, size));
    return bytes.toString("utf8").split("\n").map(parseJson).filter(isRecord) as unknown as JournalLine[];
  }
}

function listPaths(changes: readonly FileChange[], id: string): string[] {
  return changes.flatMap((change) => (change.id === id ? change.file : []));
}

function readPart(path: string, from: number, to: number): Buffer {
  const descriptor = openRegularFile(path);
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from));
  } finally {
    closeSync(descriptor);
  }
}
