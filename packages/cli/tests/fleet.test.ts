import { spawnSync } from "node:child_process";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeAll, describe, expect, it } from "vitest";
import { BURIN } from "./burin.ts";

let folder: string;

beforeAll(async () => {
  folder = createTemporaryFolder();
  await cp(dirname(BURIN), join(folder, "dist"), { recursive: true });
});

describe("burin fleet", () => {
  it("says how to install it, where it is not installed", () => {
    const command = [join(folder, "dist/burin.cjs"), "fleet", "status"];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: "utf8", cwd: folder });
    expect(stderr).toContain("burin fleet is a package of its own. Install it: npm i -g @burin/fleet");
    expect(status).toBe(2);
  });
});
