import { createRequire } from "node:module";
import { once } from "@burin/contract/async/once";
import { withFallback } from "@burin/contract/with-fallback";
import type { WalkBatch } from "../ignore/walk.ts";
import { type CreateEngine, formatArguments, listNamesFromProgram } from "./engine.ts";
import { toEnginePattern } from "./engine-pattern.ts";

const FIXED_ARGUMENTS = [
  ...["--no-config", "--no-messages", "--no-ignore", "--hidden", "--no-unicode", "--no-mmap", "--binary"],
  ...["--color=never", "--files-with-matches", "--null", "--max-depth=1"],
];

export const createRipgrep: CreateEngine = (pattern, place) => {
  const program = findRipgrep();
  const written = toEnginePattern(pattern, "ripgrep");
  if (program === null || written === null) return null;
  return {
    name: "ripgrep",
    canReadUtf16: true,
    canTakeFolders: true,
    proposeFiles: (stretches, signal) =>
      listNamesFromProgram(
        [program, ...FIXED_ARGUMENTS, "--regexp", written, "--", ...formatSearchArguments(stretches)],
        place,
        signal,
      ),
  };
};

/** With fewer files than this, a folder's files are named one by one. */
const MIN_FILES_FOR_FOLDER = 4;

/**
 * Whether the files can be passed as their folder to an engine that does not descend: it reads a folder faster than a
 * list of names. It never reads a file that is not wanted.
 */
export function canSearchFolder({ names, isWhole }: WalkBatch): boolean {
  return isWhole && names.length >= MIN_FILES_FOR_FOLDER;
}

/** The folders of the files, or the names of files whose folder also has others. */
function formatSearchArguments(stretches: readonly WalkBatch[]): string[] {
  const folders = stretches.filter(canSearchFolder).map(({ folder }) => `./${folder}`);
  return [...new Set(folders), ...formatArguments(stretches.filter((stretch) => !canSearchFolder(stretch)))];
}

/** Its package is optional; without it the next engine is used. */
export const findRipgrep = once(() =>
  withFallback(null, () => {
    const wrapper = createRequire(import.meta.url).resolve("@vscode/ripgrep");
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    const file = process.platform === "win32" ? "rg.exe" : "rg";
    return createRequire(wrapper).resolve(`${platform}/bin/${file}`);
  }),
);
