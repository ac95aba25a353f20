import { createWorkspaceOpener } from "@burin/files/workspace/node-workspace";
import type { Machine } from "./machine.ts";
import { openCommands } from "./shell/commands.ts";

export {
  type ExecEnd,
  type ExecFunction,
  type ExecOptions,
  type MachineFunctions,
  machineOf,
} from "./machine-of.ts";

/** Opens real folders of this computer, with the help of its programs. */
export const openWorkspace = createWorkspaceOpener(
  async () => (await import("./file-helpers.ts")).fileHelpers,
);

/** This computer as a machine: its files, its commands, and facts about its paths. */
export const nodeMachine: Machine = {
  openFiles: openWorkspace,
  openCommands,
  async openFacts(ground) {
    const [{ createPathFacts }, { createRepositoryInspector: createRepositoryChecks }] = await Promise.all([
      import("./processes/command-surroundings.ts"),
      import("./git/git-repository.ts"),
    ]);
    return { ...createPathFacts(ground.roots, ground.environment.PATH), ...createRepositoryChecks(ground) };
  },
};
