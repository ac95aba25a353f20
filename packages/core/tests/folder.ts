import { madeFile, temporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";

/** A new folder for each test, of a file that has called `makeFolders`. */
export let root: string;

export function makeFolders(): void {
  beforeEach(() => {
    root = temporaryFolder();
  });
}

export function file(name: string, content: string | Uint8Array): string {
  return madeFile(root, name, content);
}
