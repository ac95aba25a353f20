import { createRequire } from "node:module";
import type { EngineMaker } from "./engine.ts";
import { enginePattern } from "./engine-pattern.ts";
import { asPlaces, namesFrom } from "./run-engine.ts";

const FIXED_ARGUMENTS = [
  "--no-config",
  "--no-messages",
  "--no-ignore",
  "--hidden",
  "--no-unicode",
  "--no-mmap",
  "--binary",
  "--color=never",
  "--files-with-matches",
  "--null",
  "--max-depth=1",
];

export const ripgrep: EngineMaker = async (pattern) => {
  const program = ripgrepProgram();
  const written = enginePattern(pattern, "ripgrep");
  if (program === null || written === null) return null;
  return {
    name: "ripgrep",
    readsUtf16: true,
    takesFolders: true,
    propose: (batch) =>
      namesFrom(
        program,
        [...FIXED_ARGUMENTS, "--regexp", written, "--", ...asPlaces(batch.stretches)],
        batch,
      ),
  };
};

let found: string | null | undefined;

/** Its package is optional: where it was not installed the next engine serves. */
export function ripgrepProgram(): string | null {
  if (found === undefined) {
    const file = process.platform === "win32" ? "rg.exe" : "rg";
    try {
      const wrapper = createRequire(import.meta.url).resolve("@vscode/ripgrep");
      const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
      found = createRequire(wrapper).resolve(`${platform}/bin/${file}`);
    } catch {
      found = null;
    }
  }
  return found;
}
