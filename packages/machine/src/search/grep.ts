import type { EngineMaker } from "./engine.ts";
import { enginePattern } from "./engine-pattern.ts";
import { asArguments, namesFrom } from "./run-engine.ts";

export const systemGrep: EngineMaker = async (pattern) => {
  const written = enginePattern(pattern, "extended");
  if (written === null) return null;
  return {
    name: "grep",
    readsUtf16: false,
    takesFolders: false,
    propose: (batch) =>
      namesFrom(
        "grep",
        ["-l", "-a", "-s", "--null", "-E", "-e", written, "--", ...asArguments(batch.stretches)],
        batch,
      ),
  };
};
