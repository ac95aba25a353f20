import { expect, it } from "vitest";
import { forgetBrokenLoads } from "./forget-broken-loads.ts";
import { madeFile, temporaryFolder } from "./made-files.ts";

it("a module that could not be loaded can be, from the next file of tests on", async () => {
  const folder = temporaryFolder();
  const broken = madeFile(folder, "broken.mjs", `export { there } from "./${"missing"}.mjs";\n`);
  const load = () => import(/* @vite-ignore */ broken);
  await expect(load()).rejects.toThrow("missing");
  madeFile(folder, "missing.mjs", "export const there = true;\n");
  await expect(load()).rejects.toThrow("missing");
  await forgetBrokenLoads();
  expect(await load()).toMatchObject({ there: true });
});
