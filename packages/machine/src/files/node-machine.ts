import { openCommands } from "../commands/commands.ts";
import type { Machine } from "../machine.ts";
import { openWorkspace } from "../node-workspace.ts";

/** This computer. */
export const nodeMachine: Machine = {
  openFiles: openWorkspace,
  openCommands,
  async openFacts(ground) {
    const [{ surroundings }, { gitRepositories }] = await Promise.all([
      import("../processes/command-surroundings.ts"),
      import("../git/git-repository.ts"),
    ]);
    return { ...surroundings(ground.roots, ground.environment.PATH), ...gitRepositories(ground) };
  },
};
