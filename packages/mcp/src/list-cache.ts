import { dirname, join } from "node:path";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { replaceHomeFile } from "@burin/machine/disk/home-file";
import { makeFolders } from "@burin/machine/disk/make-folders";
import { readText } from "@burin/machine/disk/regular-file";

/** What earlier sessions know about a server. */
export interface KnownServer {
  /** The server's own list; null when it never sent one. It is checked again when it is read. */
  readonly tools: readonly unknown[] | null;
  /** By the server's names: the definition that the user last approved. */
  readonly approved: Readonly<Record<string, string>>;
  /** It was waited for once and was too slow, and has never come since. */
  readonly wasLate?: boolean;
}

const NOTHING: KnownServer = { tools: null, approved: {} };
const MOST_CHARACTERS = 8_000_000;

/** A server's list on disk, to declare its tools before it is up. When the cache fails, only that is lost. */
export class ListCache {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();
  /** Resolves when all that was given is written. */
  readonly written = (): Promise<void> => this.#writing;

  /** `hash` identifies the server's definition: another command has another file. */
  constructor(home: string, hash: string) {
    this.#path = join(home, "cache", "mcp", `${hash}.json`);
  }

  /** Synchronous: twenty files through the thread pool would delay the first request much longer. */
  read(): KnownServer {
    try {
      const value: unknown = JSON.parse(readText(this.#path, 4 * MOST_CHARACTERS) ?? "");
      if (!isRecord(value)) return NOTHING;
      const approved = isRecord(value.approved) ? Object.entries(value.approved) : [];
      const texts = approved.filter((entry): entry is [string, string] => typeof entry[1] === "string");
      const tools = Array.isArray(value.tools) ? value.tools : null;
      return { tools, approved: Object.fromEntries(texts), wasLate: value.wasLate === true };
    } catch {
      return NOTHING;
    }
  }

  /** One write after the other, each with the whole file. */
  write(known: KnownServer): Promise<void> {
    const replace = async () => {
      const text = JSON.stringify(known);
      if (text.length > MOST_CHARACTERS) return;
      makeFolders(dirname(this.#path));
      await replaceHomeFile(this.#path, text);
    };
    this.#writing = this.#writing.then(replace).catch(() => {});
    return this.#writing;
  }
}
