import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";

/** A new folder for each test. */
export let root: string;

beforeEach(() => {
  root = createTemporaryFolder();
});

/** Writes a file of the folder; what is not text as JSON. */
export function put(name: string, content: unknown): string {
  return createFile(root, name, typeof content === "string" ? content : JSON.stringify(content));
}
