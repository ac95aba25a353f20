import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["@burin/source", "node"] },
  ssr: { resolve: { conditions: ["@burin/source", "node"] } },
  test: {
    include: ["packages/*/{src,tests}/**/*.test.ts", "gates/**/*.test.ts", "bench/**/*.test.ts"],
    // Two more than CI has cores: many tests wait for processes.
    maxWorkers: 4,
    // No test may hang for ever; how fast one is, the benches say.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["packages/cli/tests/build-once.ts"],
  },
});
