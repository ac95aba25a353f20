import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { helperPath, leaveOutFolders } from "./processes/helper-program.ts";

/** Programs of this computer, and the guards of commands that run on it. */
export const fileHelpers: FileHelpers = {
  leaveOutFolders,
  programPath: helperPath,
  runProgram: async (request) => (await import("./processes/supervisor.ts")).runProgram(request),
  allowWrite: async (path, home) => {
    const { beginAllowedCall, hashOfFile } = await import("./sandbox/permissions.ts");
    const call = beginAllowedCall({ home, paths: [path] });
    return {
      permit: (newContent) => {
        const hash = hashOfFile(newContent);
        if (hash !== null) call.permit({ path, hash });
      },
      end: () => call.end(),
    };
  },
};
