import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";

/** The project of each test, in a file that has called `makeFolders`. */
export let root: string;
/** Another one, for what Burin stores. */
export let home: string;

export function makeFolders(): void {
  beforeEach(() => {
    root = createTemporaryFolder();
    home = createTemporaryFolder();
  });
}

export function file(name: string, content: string | Uint8Array): string {
  return createFile(root, name, content);
}
