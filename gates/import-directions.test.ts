import { describe, expect, it } from "vitest";
import { checkImportDirections, checkPackageDoors, checkPublicFiles } from "./import-directions.ts";
import { readRepositoryFiles } from "./repository-files.ts";

/** Returns what the gate finds in a file with this one line. */
function faultsOf(path: string, line: string): readonly string[] {
  return checkImportDirections(new Map([[path, line]])).violations;
}

const CORE = "packages/core/src";
const CLI = "packages/cli/src";

describe("import directions", () => {
  it("hold in the repository", () => {
    const { looked, violations } = checkImportDirections(readRepositoryFiles());
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
      '/** Why. */\n\nimport type { Settings } from "../settings/settings.ts";\nimport "../index.ts";';
    expect(faultsOf(`${CORE}/tools/ls.ts`, text)).toEqual([
      `${CORE}/tools/ls.ts:4 imports index.ts: index.ts stands below tools, imports go upwards only`,
    ]);
  });

  it.each([
    [`${CORE}/tools/ls.ts`, "@burin/contract/machine/workspace"],
    [`${CORE}/tools/tool-search.ts`, "./tool-registry.ts"],
    [`${CORE}/tools/built-in-tools.ts`, "./ls.ts"],
    [`${CORE}/tools/ls.test.ts`, "@burin/testing/scripted-server"],
    ["packages/models/src/failures/retry.test.ts", "@burin/testing/scripted-server"],
    ["packages/web/src/read-page.test.ts", "@burin/core"],
    ["packages/core/src/testing.ts", "@burin/testing"],
    ["packages/models/src/failures/retry.ts", "@burin/net/http-request"],
    ["packages/files/src/ignore/ignore.ts", "../paths/paths.ts"],
    ["packages/files/src/search/engine.test.ts", "@burin/commands/file-helpers"],
    ["packages/files/tests/tree.ts", "../src/search/engine.ts"],
    [`${CORE}/tools/ls.test.ts`, "./ls.ts"],
    [`${CORE}/text/diff.test.ts`, "node:fs"],
    ["packages/files/src/paths/paths.ts", "node:fs"],
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
      "packages/files/src/paths/paths.ts",
      "@burin/models/failures/retry",
      "imports @burin/models/failures/retry: models stands below files, imports go upwards only",
    ],
    [
      "packages/edit-match/src/merge.ts",
      "@burin/shell-judge",
      "imports @burin/shell-judge: shell-judge stands below edit-match, imports go upwards only",
    ],
    [
      "packages/models/src/failures/retry.test.ts",
      "@burin/web/fetch-web",
      "imports @burin/web/fetch-web: web stands below models, imports go upwards only",
    ],
    [
      "packages/models/src/failures/retry.ts",
      "../../../files/src/paths/paths.ts",
      "imports packages/files/src/paths/paths.ts: it leaves packages/models/src, use a package's public door",
    ],
    [
      "packages/web/src/read-page.ts",
      "@burin/core",
      "imports @burin/core: core stands below web, imports go upwards only",
    ],
    [
      "packages/web/src/read-page.ts",
      "@burin/testing/scripted-server",
      "imports @burin/testing/scripted-server: fakes are for tests only",
    ],
    [
      `${CORE}/tools/ls.ts`,
      "./grep.ts",
      "imports tools/grep.ts: a tool imports no sibling, what two tools share is in text or a package above",
    ],
    [
      `${CORE}/tools/tool-registry.ts`,
      "./built-in-tools.ts",
      "imports tools/built-in-tools.ts: a tool imports no sibling, what two tools share is in text or a package above",
    ],
    [
      "packages/edit-match/src/merge.ts",
      "node:fs",
      "imports node:fs: edit-match is pure, what touches the machine is in files, commands and net",
    ],
    [
      `${CORE}/approval/approval-policy.ts`,
      "node:child_process",
      "imports node:child_process: core/approval is pure, what touches the machine is in files, commands and net",
    ],
    [
      `${CORE}/agent/agent.ts`,
      "../create-session.ts",
      "imports create-session.ts: create-session.ts stands below agent, imports go upwards only",
    ],
    [`${CORE}/agent/agent.ts`, "@burin/core", "imports @burin/core: inside a package imports are relative"],
    [`${CORE}/agent/agent.ts`, "burin", "imports burin: cli stands below core, imports go upwards only"],
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
    [`${CORE}/helpers.ts`, '"helpers.ts" is no room of packages/core/src: text, settings'],
    [`${CORE}/text/utils/data.json`, "the folder core/text/utils is not in the plan"],
    ["packages/core/lib/read.ts", "packages/core/lib is not in the plan: code is in src/, tests in tests/"],
    ["packages/shared/src/index.ts", "packages/shared is not a package of this house: contract, edit-match"],
    ["packages/core/build.ts", "code belongs in a room below src/"],
  ])("forbid the place of %s", (path, fault) => {
    const found = faultsOf(path, "{}");
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${path}:1 ${fault}`);
  });
});

describe("public files of packages", () => {
  it("are each used by another package", () => {
    const { looked, violations } = checkPublicFiles(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it("are few", () => {
    expect(checkPackageDoors(readRepositoryFiles()).violations).toEqual([]);
    const manifest = (count: number) =>
      JSON.stringify({
        exports: Object.fromEntries(Array.from({ length: count }, (_, at) => [`./${at}`, ""])),
      });
    const doors = new Map([
      ["packages/web/package.json", manifest(21)],
      ["packages/files/package.json", manifest(3)],
    ]);
    expect(checkPackageDoors(doors).violations).toEqual([
      "packages/web/package.json:1 has 21 exports, more than 20",
    ]);
  });

  it("find one that only its own package uses", () => {
    const manifest = JSON.stringify({ private: true, exports: { "./a": "./src/a.ts", "./b": "./src/b.ts" } });
    const files = new Map([
      ["packages/web/package.json", manifest],
      [`${CORE}/tools/ls.ts`, 'import "@burin/web/a";'],
      ["packages/web/src/c.ts", 'import "@burin/web/b";'],
    ]);
    expect(checkPublicFiles(files).violations).toEqual([
      "packages/web/package.json:1 exports ./b, which no other package uses",
    ]);
  });
});
