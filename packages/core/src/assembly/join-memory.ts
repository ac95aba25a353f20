import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { MemoryPlaces } from "../tools/memoryTool.ts";
import { openWorkspace } from "../workspace/node-workspace.ts";
import type { Workspace } from "../workspace/workspace.ts";

const FILE_NAME = "AGENTS.md";

/** Facts are kept in the context files: the project's at its root, the person's own in their home. */
export function memoryPlaces(workspace: Workspace, home: string): MemoryPlaces {
  let personal: Workspace | undefined;
  const openHome = () => {
    if (personal === undefined) {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      personal = openWorkspace(home);
    }
    return personal;
  };
  return {
    project: { file: join(workspace.root, FILE_NAME), open: () => workspace },
    global: { file: join(home, FILE_NAME), open: openHome },
  };
}
