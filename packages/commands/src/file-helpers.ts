import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { buildHelperPath, excludeFromHelperSearch } from "./processes/helper-program.ts";

/**
 * The programs that file access may run on this computer, and the record of allowed writes that sandbox guards read.
 */
export const fileHelpers: FileHelpers = {
  leaveOutFolders: excludeFromHelperSearch,
  programPath: buildHelperPath,
  runProgram: async (request) => (await import("./processes/supervisor.ts")).runProgram(request),
  allowWrite: async (path, home) => {
    const { beginAllowedCall, hashFile } = await import("./sandbox/permissions.ts");
    const call = beginAllowedCall({ home, paths: [path] });
    return {
      permit: (newContent) => {
        const hash = hashFile(newContent);
        if (hash !== null) call.permit({ path, hash });
      },
      end: () => call.end(),
    };
  },
};
