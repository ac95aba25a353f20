import { createRequire } from "node:module";
import { once } from "@burin/contract/async/once";
import { orElse } from "@burin/contract/or-else";
import type { Stretch } from "../ignore/walk.ts";
import { asArguments, type EngineMaker, namesFrom } from "./engine.ts";
import { enginePattern } from "./engine-pattern.ts";

const FIXED_ARGUMENTS = [
  ...["--no-config", "--no-messages", "--no-ignore", "--hidden", "--no-unicode", "--no-mmap", "--binary"],
  ...["--color=never", "--files-with-matches", "--null", "--max-depth=1"],
];

export const ripgrep: EngineMaker = (pattern, place) => {
  const program = ripgrepProgram();
  const written = enginePattern(pattern, "ripgrep");
  if (program === null || written === null) return null;
  return {
    name: "ripgrep",
    readsUtf16: true,
    takesFolders: true,
    propose: (stretches, signal) =>
      namesFrom(
        [program, ...FIXED_ARGUMENTS, "--regexp", written, "--", ...asPlaces(stretches)],
        place,
        signal,
      ),
  };
};

/** Fewer files of one folder are named one by one. */
const FEWEST_FOR_A_FOLDER = 4;

/**
 * Whether the files can be passed to an engine that does not descend by the name of their folder: it reads a folder
 * faster than a list of names. It never gets files to read that are not wanted.
 */
export function isFolderEnough({ names, isWhole }: Stretch): boolean {
  return isWhole && names.length >= FEWEST_FOR_A_FOLDER;
}

/** The folders of the files, or the names of files whose folder also has others. */
function asPlaces(stretches: readonly Stretch[]): string[] {
  const folders = stretches.filter(isFolderEnough).map(({ folder }) => `./${folder}`);
  return [...new Set(folders), ...asArguments(stretches.filter((stretch) => !isFolderEnough(stretch)))];
}

/** Its package is optional; without it the next engine is used. */
export const ripgrepProgram = once(() =>
  orElse(null, () => {
    const wrapper = createRequire(import.meta.url).resolve("@vscode/ripgrep");
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    const file = process.platform === "win32" ? "rg.exe" : "rg";
    return createRequire(wrapper).resolve(`${platform}/bin/${file}`);
  }),
);
