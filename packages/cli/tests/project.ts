import { madeFile, temporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";

/** A new folder for each test. */
export let root: string;

beforeEach(() => {
  root = temporaryFolder();
});

/** Writes a file of the folder; what is not text as JSON. */
export function put(name: string, content: unknown): string {
  return madeFile(root, name, typeof content === "string" ? content : JSON.stringify(content));
}
