import { gitTopOf } from "../git/git-excludes.ts";
import type { Engine, EngineMaker } from "./engine.ts";
import { enginePattern } from "./engine-pattern.ts";
import { namesFrom } from "./run-engine.ts";

const SEARCH = ["grep", "--no-index", "--no-textconv", "--no-color", "-l", "-z", "-a", "-E"];

/**
 * Looks at the files as they are on disk, tracked or not. It is slow with long lists of paths, so it
 * searches the whole folder once, and that is the answer for each batch.
 */
export const gitGrep: EngineMaker = async (pattern, folder) => {
  const written = enginePattern(pattern, "extended");
  if (written === null || gitTopOf(folder) === null) return null;
  let all: ReturnType<Engine["propose"]> | undefined;
  return {
    name: "git",
    readsUtf16: false,
    takesFolders: true,
    propose: (batch) => {
      const paths = ["--", ".", ":(exclude,glob)**/node_modules/**", ":(exclude,glob)**/.git/**"];
      all ??= namesFrom("git", [...SEARCH, "-e", written, ...paths], batch);
      return all;
    },
  };
};
