import { madeFile, temporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";

/** A new folder for each test. */
export let root: string;

beforeEach(() => {
  root = temporaryFolder();
});

export function file(name: string, content: string | Uint8Array): string {
  return madeFile(root, name, content);
}
