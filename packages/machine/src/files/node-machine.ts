import { openCommands } from "../commands/commands.ts";
import type { Machine } from "../machine.ts";
import { openWorkspace } from "../node-workspace.ts";

/** This computer. */
export const nodeMachine: Machine = {
  openFiles: openWorkspace,
  openCommands,
  async openFacts({ roots, ...ground }) {
    const [{ surroundings }, { gitRepositories }] = await Promise.all([
      import("../processes/command-surroundings.ts"),
      import("../git/git-repository.ts"),
    ]);
    return {
      ...surroundings(roots, ground.environment.PATH),
      ...gitRepositories({ roots, ...ground }),
    };
  },
};
