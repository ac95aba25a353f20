import { relative, sep } from "node:path";
import { openWorkspace } from "@burin/machine/node-workspace";

/** The files of a project for a user to choose from, newest first, relative to its folder, without ignored files. */
export async function projectFiles(root: string, most: number, signal: AbortSignal): Promise<string[]> {
  const workspace = openWorkspace(root);
  const request = { pattern: "**/*", caseSensitive: false, respectGitIgnore: true, most };
  const { files } = await workspace.find(workspace.root, request, signal);
  return files.map((file) => relative(workspace.root, file).replaceAll(sep, "/"));
}
