import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createToolbox, type ToolboxOptions } from "@burin/core";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";

/** A new folder for each test, of a file that has called `makeFolders`, and a file in it. */
export let root: string;
export let file: string;

export function makeFolders(): void {
  beforeEach(() => {
    root = createTemporaryFolder();
    file = join(root, "a.txt");
  });
}

export function toolbox(options: Partial<ToolboxOptions> = {}) {
  return createToolbox({ root, approvalMode: "yolo", ...options });
}

interface Asked {
  readonly old: string;
  readonly new: string;
  readonly count?: number;
  readonly path?: string;
}

export function edit({ old, new: fresh, count, path = file }: Asked, box = toolbox()) {
  return box.call("edit", {
    file_path: path,
    old_string: old,
    new_string: fresh,
    ...(count === undefined ? {} : { expected_replacements: count }),
  });
}

export const content = () => readFile(file, "utf8");
