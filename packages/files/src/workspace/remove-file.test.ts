import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeFile } from "./remove-file.ts";

let place: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "burin-remove-")));
  mkdirSync(join(place, "root/above/made"), { recursive: true });
  mkdirSync(join(place, "outside/made"), { recursive: true });
  writeFileSync(join(place, "root/above/made/file.txt"), "x");
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

async function remove(meanwhile: () => void): Promise<void> {
  const real = join(place, "root/above/made/file.txt");
  await removeFile({
    file: real,
    real,
    roots: [join(place, "root")],
    hasContent: async () => true,
    madeFolders: 2,
    onChange: () => {
      meanwhile();
      return { note: null, forget: () => {} };
    },
  });
}

describe("removing a file with the folders that were made for it", () => {
  it("P23 takes the folders away that are empty by then", async () => {
    await remove(() => {});
    expect(existsSync(join(place, "root/above"))).toBe(false);
    expect(existsSync(join(place, "root"))).toBe(true);
  });

  it("P38 a folder above that is swapped for a link meanwhile: no folder outside is taken away", async () => {
    const above = join(place, "root/above");
    await remove(() => {
      renameSync(above, `${above}.real`);
      symlinkSync(join(place, "outside"), above);
    });
    expect(existsSync(join(place, "outside/made"))).toBe(true);
    expect(existsSync(`${above}.real/made/file.txt`)).toBe(false);
  });
});
