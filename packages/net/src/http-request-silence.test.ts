import { spawn } from "node:child_process";
import { setImmediate as afterReading } from "node:timers/promises";
import { expect, it } from "vitest";
import { SilenceWatch } from "./http-request.ts";

it("P33 what came while this process was stopped is no silence, and what follows is", async () => {
  const server = spawn("sh", ["-c", "sleep 0.3; echo here; exec sleep 60"]);
  const connection = new AbortController();
  const watch = new SilenceWatch(500, connection);
  try {
    const pieces = watch.watchPieces(server.stdout);
    const first = pieces.next();
    await afterReading();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    expect(String((await first).value)).toBe("here\n");
    expect(watch.isOver).toBe(false);
    void pieces.next();
    await expect.poll(() => connection.signal.aborted).toBe(true);
    expect(watch.isOver).toBe(true);
  } finally {
    watch.stop();
    server.kill("SIGKILL");
  }
});
