import { projectFiles } from "@burin/core";
import { FileNames } from "../../state/file-names.ts";

const MOST_FILES = 300_000;

export async function readNames(root: string): Promise<FileNames> {
  return new FileNames(await projectFiles(root, MOST_FILES, new AbortController().signal));
}
