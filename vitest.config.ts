import type { Plugin } from "vitest/config";
import { defineConfig } from "vitest/config";
import { WaitingTests } from "./packages/testing/src/waiting-tests.ts";

// Tests talk to servers of their own, and set the proxies that they try: those of this machine are not theirs.
for (const name of Object.keys(process.env))
  if (/^(?:https?|all|no)_proxy$/i.test(name)) delete process.env[name];

const waiting = new WaitingTests();
/** A plugin, because the reporters of a configuration count only where the command line names none. */
const plugins: Plugin[] = [
  {
    name: "waiting-tests",
    configureVitest({ vitest: { config } }) {
      if (!config.reporters.includes(waiting)) config.reporters.push(waiting);
    },
  },
];

const conditions = ["@burin/source", "node"];
const options = {
  setupFiles: ["packages/testing/src/remove-folders.ts"],
  // No test may hang for ever; how fast one is, the benches say.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Each in a process of its own: tests of the command line and the fleet, and those that change their process. */
const APART = [
  "packages/{cli,fleet}/tests/**/*.test.ts",
  "packages/core/src/tools/ignore-matrix.test.ts",
  "packages/core/tests/faults/faults.test.ts",
  "packages/core/tests/unwritable-home.test.ts",
  "packages/fleet/src/{base-folders,run-command}.test.ts",
  "packages/commands/src/shell/command-limits.test.ts",
  "packages/net/src/{proxy,socks}.test.ts",
  "packages/files/src/ignore/ignore.test.ts",
  "packages/files/tests/helper-programs.test.ts",
  "packages/models/tests/named-models.test.ts",
];

export default defineConfig({
  test: {
    // Two more than CI has cores: many tests wait for processes.
    maxWorkers: 4,
    globalSetup: ["packages/cli/tests/build-once.ts"],
    projects: [
      {
        plugins,
        resolve: { conditions },
        ssr: { resolve: { conditions } },
        test: { ...options, name: "apart", include: APART },
      },
      {
        plugins,
        resolve: { conditions },
        ssr: { resolve: { conditions } },
        // One after another in the same four processes, which then load each module once: that is half of the work.
        test: {
          ...options,
          name: "together",
          isolate: false,
          include: ["packages/*/{src,tests}/**/*.test.ts", "gates/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: APART,
        },
      },
    ],
  },
});
