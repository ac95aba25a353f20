import { join } from "node:path";
import type { Workspace } from "@burin/contract/machine/workspace";
import { openWorkspace } from "@burin/machine/node-workspace";
import { contextFileNames } from "../agent/context-files.ts";
import type { MemoryPlaces } from "../tools/memoryTool.ts";

interface MemoryGround {
  readonly workspace: Workspace;
  readonly home: string;
  /** As settings name them. */
  readonly fileNames: readonly string[];
}

/** Facts are kept where the next session is told of them: the project's at its root, the person's own in their home. */
export function memoryPlaces({ workspace, home, fileNames }: MemoryGround): MemoryPlaces {
  const [fileName] = contextFileNames(fileNames);
  let personal: Workspace | undefined;
  const openHome = async () => {
    if (personal === undefined) {
      (await import("@burin/machine/disk/make-folders")).makeFolders(home);
      personal = openWorkspace(home);
    }
    return personal;
  };
  return {
    project: { file: join(workspace.root, fileName), open: async () => workspace },
    global: { file: join(home, fileName), open: openHome },
  };
}
