import { describe, expect, it } from "vitest";
import { importDirections } from "./import-directions.ts";
import { repositoryFiles } from "./repository-files.ts";

/** What the gate says of one file with one line. */
function faultsOf(path: string, line: string): readonly string[] {
  return importDirections(new Map([[path, line]])).violations;
}

const CORE = "packages/core/src";
const CLI = "packages/cli/src";

describe("import directions", () => {
  it("hold in the repository", () => {
    const { looked, violations } = importDirections(repositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each([
    ["an import", 'import { run } from "../agent/agent.ts";'],
    ["a type import", 'import type { Agent } from "../agent/agent.ts";'],
    ["a bare import", 'import "../agent/agent.ts";'],
    ["a re-export", 'export { run } from "../agent/agent.ts";'],
    ["a type re-export of all", 'export type * from "../agent/agent.ts";'],
    ["a dynamic import", 'export const late = () => import("../agent/agent.ts");'],
    ["a dynamic import of a plain template", "export const late = () => import(`../agent/agent.ts`);"],
    ["an import inside a type", 'export type Agent = import("../agent/agent.ts").Agent;'],
    ["an import by require", 'import agent = require("../agent/agent.ts");'],
    ["a call of require", 'export const agent = require("../agent/agent.ts");'],
  ])("count as %s", (_form, line) => {
    expect(faultsOf(`${CORE}/tools/ls.ts`, line)).toEqual([
      `${CORE}/tools/ls.ts:1 imports agent/agent.ts: agent stands below tools, imports go upwards only`,
    ]);
  });

  it("do not count what only looks like an import", () => {
    const text = '// import "../agent/agent.ts"\nexport const said = `import x from "../agent/agent.ts"`;';
    expect(faultsOf(`${CORE}/tools/ls.ts`, text)).toEqual([]);
  });

  it("name the line", () => {
    const text =
      '/** Why. */\n\nimport type { JsonSchema } from "../messages/json-schema.ts";\nimport "../index.ts";';
    expect(faultsOf(`${CORE}/tools/ls.ts`, text)).toEqual([
      `${CORE}/tools/ls.ts:4 imports index.ts: index.ts stands below tools, imports go upwards only`,
    ]);
  });

  it.each([
    [`${CORE}/tools/ls.ts`, "../workspace/workspace.ts"],
    [`${CORE}/tools/ls.ts`, "./tools.ts"],
    [`${CORE}/tools/built-in-tools.ts`, "./ls.ts"],
    [`${CORE}/tools/ls.test.ts`, "../testing/scripted-server.ts"],
    [`${CORE}/tools/ls.test.ts`, "./ls.ts"],
    [`${CORE}/text/edit-match/stages.ts`, "../near-names.ts"],
    [`${CORE}/text/diff.test.ts`, "node:fs"],
    [`${CORE}/workspace/paths.ts`, "node:fs"],
    [`${CORE}/create-session.test.ts`, "./create-session.ts"],
    [`${CORE}/index.ts`, "./create-session.ts"],
    ["packages/core/tests/one-turn.test.ts", "@burin/core"],
    ["packages/core/tests/one-turn.test.ts", "../src/index.ts"],
    ["packages/core/tests/one-turn.test.ts", "./start-server.ts"],
    [`${CLI}/modes/print.ts`, "@burin/core"],
    [`${CLI}/modes/print.test.ts`, "@burin/core/testing"],
    [`${CLI}/main.ts`, "./args.ts"],
    [`${CLI}/ui/displays/file-diff.ts`, "../../state/screen.ts"],
    ["packages/cli/tests/screen.test.ts", "../src/main.ts"],
  ])("let %s import %s", (path, specifier) => {
    expect(faultsOf(path, `import ${JSON.stringify(specifier)};`)).toEqual([]);
  });

  it.each([
    [
      `${CORE}/text/diff.ts`,
      "../messages/parts.ts",
      "imports messages/parts.ts: text imports nothing of the house",
    ],
    [
      `${CORE}/messages/parts.ts`,
      "../text/truncate.ts",
      "imports text/truncate.ts: text stands below messages, imports go upwards only",
    ],
    [
      `${CORE}/tools/ls.ts`,
      "./grep.ts",
      "imports tools/grep.ts: a tool imports no sibling, what two tools share is in text or workspace",
    ],
    [
      `${CORE}/tools/tool-registry.ts`,
      "./built-in-tools.ts",
      "imports tools/built-in-tools.ts: a tool imports no sibling, what two tools share is in text or workspace",
    ],
    [
      `${CORE}/text/diff.ts`,
      "node:fs",
      "imports node:fs: text is pure, what touches the machine is in workspace",
    ],
    [
      `${CORE}/approval/rules.ts`,
      "node:child_process",
      "imports node:child_process: approval is pure, what touches the machine is in workspace",
    ],
    [
      `${CORE}/agent/agent.ts`,
      "../create-session.ts",
      "imports create-session.ts: create-session.ts stands below agent, imports go upwards only",
    ],
    [`${CORE}/agent/agent.ts`, "@burin/core", "imports @burin/core: inside core imports are relative"],
    [`${CORE}/agent/agent.ts`, "burin", "imports burin: inside core imports are relative"],
    [
      `${CORE}/agent/agent.ts`,
      "../../../cli/src/main.ts",
      "imports packages/cli/src/main.ts: it leaves packages/core/src, use a package's public door",
    ],
    [
      "packages/core/tests/one-turn.test.ts",
      "../src/create-session.ts",
      "imports packages/core/src/create-session.ts: tests of whole turns use the public doors only",
    ],
    [
      "packages/cli/tests/screen.test.ts",
      "../../core/src/index.ts",
      "imports packages/core/src/index.ts: tests of whole turns use the public doors only",
    ],
    [
      `${CLI}/modes/print.ts`,
      "@burin/core/src/agent/agent.ts",
      "imports @burin/core/src/agent/agent.ts: the public door is @burin/core",
    ],
    [
      `${CLI}/modes/print.ts`,
      "../../../core/src/index.ts",
      "imports packages/core/src/index.ts: it leaves packages/cli/src, use a package's public door",
    ],
    [`${CLI}/modes/print.ts`, "@burin/core/testing", "imports @burin/core/testing: fakes are for tests only"],
    [
      `${CLI}/state/screen.ts`,
      "../ui/draw.ts",
      "imports ui/draw.ts: ui stands below state, imports go upwards only",
    ],
    [
      `${CLI}/modes/print.ts`,
      "../args.ts",
      "imports args.ts: args.ts stands below modes, imports go upwards only",
    ],
  ])("forbid %s to import %s", (path, specifier, fault) => {
    expect(faultsOf(path, `import ${JSON.stringify(specifier)};`)).toEqual([`${path}:1 ${fault}`]);
  });

  it("forbid an import whose name is computed", () => {
    expect(faultsOf(`${CLI}/main.ts`, "export const load = (name) => import(name);")).toEqual([
      `${CLI}/main.ts:1 imports a computed name: write it out, so that it can be judged`,
    ]);
  });

  it.each([
    [`${CLI}/utils/strings.ts`, '"utils" is no room of packages/cli/src: terminal, request'],
    [`${CORE}/helpers.ts`, '"helpers.ts" is no room of packages/core/src: messages, text'],
    [`${CORE}/text/utils/data.json`, "the folder core/text/utils is not in the plan"],
    ["packages/core/lib/read.ts", "packages/core/lib is not in the plan: code is in src/, tests in tests/"],
    ["packages/shared/src/index.ts", "packages/shared is no package of this house: core and cli are"],
    ["packages/core/build.ts", "code belongs in a room below src/"],
  ])("forbid the place of %s", (path, fault) => {
    const found = faultsOf(path, "{}");
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${path}:1 ${fault}`);
  });
});
