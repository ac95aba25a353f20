import { describe, expect, it } from "vitest";
import { checkEngineDoor } from "./engine-door.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const WORKER = "packages/fleet/src/worker.ts";
const DOOR = 'import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";\n';

function faultsOf(text: string, path = WORKER): readonly string[] {
  return checkEngineDoor(new Map([[path, text]])).violations;
}

describe("the door of the fleet's engine", () => {
  it("P44 is the only way that the fleet takes to it", () => {
    const { looked, violations } = checkEngineDoor(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(20);
  });

  it.each([
    'import { x } from "@dbos-inc/dbos-sdk/internal/context";',
    'import type { SystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";',
    'export const late = () => import("@dbos-inc/dbos-sdk/dist/src/dbos.js");',
    'require("@dbos-inc/dbos-sdk/internal/wfqueue");',
  ])("P44 finds a way behind it: %s", (line) => {
    expect(faultsOf(line)).toHaveLength(1);
    expect(faultsOf(line, "packages/fleet/tests/engine.test.ts")).toHaveLength(1);
  });

  it.each([
    "DBOS.launch = async () => {};",
    'DBOSClient.prototype["send"] = send;',
    'Object.defineProperty(DBOS, "launch", {});',
    "Object.assign(client, { send });",
    "class A { work() { this.#client.send = send; } }",
    "delete client.send;",
    "Reflect.set(DBOSClient.prototype, 'send', send);",
  ])("P44 finds a change of what is the engine's: %s", (line) => {
    expect(faultsOf(DOOR + line)).toEqual([
      expect.stringMatching(/^packages\/fleet\/src\/worker\.ts:2 changes /),
    ]);
  });

  it.each([
    "insert into dbos.workflow_status values ($1)",
    "update dbos.workflow_status set status = 'PENDING'",
    'UPDATE "dbos"."workflow_status" set status = $1',
    "delete from dbos.operation_outputs",
    "with a as (select 1) delete from only dbos.operation_outputs",
    "create index if not exists mine on dbos.workflow_status (name)",
    "alter table dbos.workflow_status add column mine text",
    "truncate dbos.notifications",
    "drop schema if exists dbos cascade",
    "analyze dbos.workflow_status",
  ])("P44 finds a text that writes a table of it: %s", (sql) => {
    const line = `export const text = \`${sql}\`;`;
    expect(faultsOf(line)).toEqual(["packages/fleet/src/worker.ts:1 writes a table of the engine"]);
    expect(faultsOf(line, "packages/fleet/src/engine-tables.ts")).toHaveLength(1);
  });

  it("P44 lets one file and tests read its tables, and everybody change what is their own", () => {
    const read = 'export const text = "select status from dbos.workflow_status for share";';
    expect(faultsOf(read)).toEqual([
      "packages/fleet/src/worker.ts:1 reads a table of the engine: that belongs in packages/fleet/src/engine-tables.ts",
    ]);
    expect(faultsOf(read, "packages/fleet/src/engine-tables.ts")).toEqual([]);
    expect(faultsOf(read, "packages/fleet/tests/engine.test.ts")).toEqual([]);
    const own =
      "class A { work() { this.#timer = 1; this.#missing = new Set(); told.words = 2; } }\nDBOS.setConfig({ name });";
    expect(faultsOf(DOOR + own)).toEqual([]);
    const insert =
      'export const text = "insert into burin_fleet.spent select w.id from dbos.workflow_status w";';
    expect(faultsOf(insert, "packages/fleet/src/engine-tables.ts")).toEqual([]);
  });
});
