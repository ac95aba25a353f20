// A command that prints 2 GB, and one that prints without end: memory stays bounded, the whole is on disk, the
// limit of time holds. Not part of the suite, because it needs 2 GB of disk: node packages/core/tests/faults/flood.mjs
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BUILT = new URL("../../dist/index.js", import.meta.url);
const BYTES = 2_000_000_000;
const MAX_GROWTH_MB = 60;

const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
const base = mkdtempSync(join(tmpdir(), "burin-flood-"));
const home = join(base, "home");

/** @param {() => Promise<unknown>} work */
async function growthMb(work) {
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  await work();
  clearInterval(watch);
  return (peak - before) / 1e6;
}

for (const mode of /** @type {const} */ (["off", "workspace-write"])) {
  const root = mkdtempSync(join(base, "project-"));
  const environment = { ...process.env, BURIN_HOME: home };
  const toolbox = createToolbox({ root, approvalMode: "yolo", environment, settings: { sandbox: { mode } } });
  const flood = await growthMb(async () => {
    const { llmContent, error } = await toolbox.call("run_shell_command", {
      command: `yes 0123456789abcdef | head -c ${BYTES}`,
      timeout: 600_000,
    });
    assert.equal(error, undefined);
    assert.ok(String(llmContent).length < 40_000);
    assert.match(String(llmContent), new RegExp(`of ${BYTES} bytes in all`));
  });
  const [file = ""] = readdirSync(join(home, "output"));
  assert.equal(statSync(join(home, "output", file)).size, BYTES);
  rmSync(join(home, "output"), { recursive: true });
  assert.ok(flood < MAX_GROWTH_MB, `memory grew by ${flood} MB`);
  const started = Date.now();
  const endless = await growthMb(async () => {
    const { error } = await toolbox.call("run_shell_command", { command: "yes", timeout: 2000 });
    assert.equal(error?.type, "timeout");
  });
  const tookMs = Date.now() - started;
  assert.ok(endless < MAX_GROWTH_MB, `memory grew by ${endless} MB`);
  assert.ok(tookMs < 7000, `a limit of 2 s took ${tookMs} ms`);
  rmSync(join(home, "output"), { recursive: true, force: true });
  await toolbox.close();
  process.stdout.write(
    `sandbox ${mode}: 2 GB, memory +${flood.toFixed(0)} MB; endless, +${endless.toFixed(0)} MB, ended after ${tookMs} ms\n`,
  );
}
rmSync(base, { recursive: true });
