import { dirname, join } from "node:path";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { replaceHomeFile } from "@burin/machine/disk/home-file";
import { makeFolders } from "@burin/machine/disk/make-folders";
import { readText } from "@burin/machine/disk/regular-file";

/** What is known of a server from earlier sessions. */
export interface KnownServer {
  /** As the server listed them; null when it never did. They are judged again when they are read. */
  readonly tools: readonly unknown[] | null;
  /** By the server's names: the definition that a user last said yes to. */
  readonly approved: Readonly<Record<string, string>>;
  /** It was waited for once and did not come in time; it has not come since. */
  readonly wasLate?: boolean;
}

const NOTHING: KnownServer = { tools: null, approved: {} };
const MOST_CHARACTERS = 8_000_000;
const MOST_BYTES = 4 * MOST_CHARACTERS;

/**
 * The list of one server on disk, so that its tools can be declared before it is up. A cache that cannot be read
 * or written costs only that.
 */
export class ListCache {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  /** `hash` stands for the server as settings name it: another command has another file. */
  constructor(home: string, hash: string) {
    this.#path = join(home, "cache", "mcp", `${hash}.json`);
  }

  /** At once: twenty files through the pool of threads would hold the first request up for much longer. */
  read(): KnownServer {
    try {
      const value: unknown = JSON.parse(readText(this.#path, MOST_BYTES) ?? "");
      if (!isRecord(value)) return NOTHING;
      const approved = isRecord(value.approved) ? Object.entries(value.approved) : [];
      const texts = approved.filter((entry): entry is [string, string] => typeof entry[1] === "string");
      const tools = Array.isArray(value.tools) ? value.tools : null;
      return { tools, approved: Object.fromEntries(texts), wasLate: value.wasLate === true };
    } catch {
      return NOTHING;
    }
  }

  /** One after the other, each file whole. */
  write(known: KnownServer): Promise<void> {
    this.#writing = this.#writing.then(() => this.#replace(known)).catch(() => {});
    return this.#writing;
  }

  /** Resolves when nothing is left to be written. */
  written(): Promise<void> {
    return this.#writing;
  }

  async #replace(known: KnownServer): Promise<void> {
    const text = JSON.stringify(known);
    if (text.length > MOST_CHARACTERS) return;
    makeFolders(dirname(this.#path));
    await replaceHomeFile(this.#path, text);
  }
}
