import { spawnSync } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BURIN } from "./burin.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "burin-without-fleet-"));
  await cp(dirname(BURIN), join(folder, "dist"), { recursive: true });
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("burin fleet", () => {
  it("says how to install it, where it is not installed", () => {
    const command = [join(folder, "dist/burin.cjs"), "fleet", "status"];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: "utf8", cwd: folder });
    expect(stderr).toContain("burin fleet is a package of its own. Install it: npm i -g @burin/fleet");
    expect(status).toBe(2);
  });
});
