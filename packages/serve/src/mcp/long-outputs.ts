import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readText } from "@burin/core/internal";
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type ResourceLink,
} from "@modelcontextprotocol/server";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_LISTED = 1000;

/** Outputs of commands that are too long for an answer, as resources. Only files named in an answer can be read. */
export class LongOutputs {
  readonly #known = new Map<string, ResourceLink>();
  readonly #path: RegExp;

  constructor(home: string) {
    const folder = join(home, "output", "/").replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    this.#path = new RegExp(`${folder}([\\w.-]+\\.txt)`, "g");
  }

  get list(): readonly ResourceLink[] {
    return [...this.#known.values()];
  }

  /** Returns links to the outputs that a text names. */
  findLinks(text: string): ResourceLink[] {
    return [...text.matchAll(this.#path)].map(([path, name = ""]) => {
      const uri = pathToFileURL(path).href;
      const description = "The whole output of a command.";
      const link: ResourceLink = { type: "resource_link", uri, name, description, mimeType: "text/plain" };
      const [oldest] = this.#known.keys();
      if (this.#known.size >= MAX_LISTED && oldest !== undefined) this.#known.delete(oldest);
      this.#known.set(uri, link);
      return link;
    });
  }

  read(uri: string): ReadResourceResult {
    const text = this.#known.has(uri) ? readText(fileURLToPath(uri), MAX_BYTES) : null;
    if (text === null)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource ${uri}.`);
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  }
}
