import { gitTopOf } from "../git/git-excludes.ts";
import { asArguments, type Engine, type EngineMaker, namesFrom } from "./engine.ts";
import { enginePattern } from "./engine-pattern.ts";

const GIT_GREP = ["git", "grep", "--no-index", "--no-textconv", "--no-color", "-lzaE"] as const;
const EVERYWHERE = ["--", ".", ":(exclude,glob)**/node_modules/**", ":(exclude,glob)**/.git/**"];

/**
 * Searches the files on disk, tracked or not. Long lists of paths are slow, so it searches the whole folder once,
 * and that is the result for each batch.
 */
export const gitGrep: EngineMaker = (pattern, place) => {
  const written = enginePattern(pattern, "extended");
  if (written === null || gitTopOf(place.folder) === null) return null;
  let all: ReturnType<Engine["propose"]> | undefined;
  return {
    name: "git",
    readsUtf16: false,
    takesFolders: true,
    propose: (_stretches, signal) =>
      (all ??= namesFrom([...GIT_GREP, "-e", written, ...EVERYWHERE], place, signal)),
  };
};

const GREP = ["grep", "-l", "-a", "-s", "--null", "-E"] as const;

export const systemGrep: EngineMaker = (pattern, place) => {
  const written = enginePattern(pattern, "extended");
  if (written === null) return null;
  return {
    name: "grep",
    readsUtf16: false,
    takesFolders: false,
    propose: (stretches, signal) =>
      namesFrom([...GREP, "-e", written, "--", ...asArguments(stretches)], place, signal),
  };
};
