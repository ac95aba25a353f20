import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["@burin/source", "node"] },
  ssr: { resolve: { conditions: ["@burin/source", "node"] } },
  test: {
    include: ["packages/*/{src,tests}/**/*.test.ts", "gates/**/*.test.ts", "bench/**/*.test.ts"],
    testTimeout: 30_000,
    globalSetup: ["packages/cli/tests/build-once.ts"],
  },
});
