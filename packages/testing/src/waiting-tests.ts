import type { Reporter, TestModule } from "vitest/node";
import { listRemedies, NEEDED_HERE, PROGRAMS } from "./programs.mjs";

/** If this variable is `all`, each test that waits for a missing program fails, as in `.ci/run`. */
const REQUIRE_VARIABLE = "BURIN_TESTS";

/** The last lines of a run: which program is missing, how many tests wait for it, and what installs it. */
export class WaitingTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const waiting = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    const counts = NEEDED_HERE.map((name) => {
      const count = waiting.filter((test) => `waits for ${name}` in test.meta()).length;
      return { name, count };
    }).filter(({ count }) => count > 0);
    if (counts.length === 0) return;
    const lines = counts.map(({ name, count }) => {
      const tests = count === 1 ? "1 test waits" : `${count} tests wait`;
      return `${name} ${PROGRAMS[name].fault()}: ${tests} for it.`;
    });
    if (process.env[REQUIRE_VARIABLE] === "all") {
      lines.push(`${REQUIRE_VARIABLE} asks for all tests, so these count as failed.`);
      process.exitCode = 1;
    }
    lines.push(...listRemedies(counts.map(({ name }) => name)));
    process.stdout.write(`${lines.join("\n")}\n`);
  }
}
