import { closeSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { entriesOf } from "@burin/files/disk/disk-looks";
import { openRegular } from "@burin/files/disk/regular-file";
import type { Content } from "./content.ts";
import type { FileChange, JournalLine } from "./journal-line.ts";

/** What others have noted while a call ran: other calls, other sessions, and the file tools. */
export interface OthersChanges {
  /** By path, what they left there. */
  readonly files: ReadonlyMap<string, Content | null>;
  /** By name, what they left the ref at. */
  readonly refs: ReadonlyMap<string, string | null>;
  /** Calls are among them whose changes could be mistaken for each other's. */
  readonly hasCalls: boolean;
}

const MOST_TAIL_BYTES = 64 * 1024 * 1024;

/** Reads what is added to the journals of a folder from now on. */
export class JournalTails {
  readonly #folder: string;
  readonly #sizes: ReadonlyMap<string, number>;

  /** `sizes` are those from which on to read, where another process has noted them. */
  constructor(folder: string, sizes?: Readonly<Record<string, number>>) {
    this.#folder = folder;
    this.#sizes = sizes === undefined ? this.#sizesNow() : new Map(Object.entries(sizes));
  }

  get sizes(): Record<string, number> {
    return Object.fromEntries(this.#sizes);
  }

  read(): OthersChanges {
    const files = new Map<string, Content | null>();
    const refs = new Map<string, string | null>();
    const lines = [...this.#sizesNow()].flatMap(([name, size]) => this.#lines(name, size));
    const changes = lines.flatMap((line) => {
      if (line.type === "change") return [line];
      return line.type === "changes"
        ? [...line.changes, ...(line.git ?? []).flatMap(({ files: all }) => all)]
        : [];
    });
    for (const { file, after } of changes) files.set(file, after);
    for (const line of lines) {
      if (line.type === "forgotten") for (const path of pathsOf(changes, line.id)) files.delete(path);
      if (line.type !== "changes") continue;
      for (const { name, after } of (line.git ?? []).flatMap(({ refs: all }) => all)) refs.set(name, after);
    }
    return { files, refs, hasCalls: lines.some(({ type }) => type === "changes") };
  }

  #sizesNow(): Map<string, number> {
    const journals = entriesOf(this.#folder).filter(({ name }) => name.endsWith(".jsonl"));
    return new Map(
      journals.map(({ name }) => [name, orElse(0, () => statSync(join(this.#folder, name)).size)]),
    );
  }

  #lines(name: string, size: number): JournalLine[] {
    const from = this.#sizes.get(name) ?? 0;
    if (size <= from || size - from > MOST_TAIL_BYTES) return [];
    const bytes = orElse(Buffer.alloc(0), () => readPart(join(this.#folder, name), from, size));
    return bytes.toString("utf8").split("\n").map(parseJson).filter(isRecord) as unknown as JournalLine[];
  }
}

function pathsOf(changes: readonly FileChange[], id: string): string[] {
  return changes.flatMap((change) => (change.id === id ? change.file : []));
}

function readPart(path: string, from: number, to: number): Buffer {
  const descriptor = openRegular(path);
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from));
  } finally {
    closeSync(descriptor);
  }
}
