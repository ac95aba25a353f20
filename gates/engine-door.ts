import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";
import { findModuleUses, findPropertyChanges, findWrittenTexts } from "./syntax.ts";

const ENGINE = "@dbos-inc/dbos-sdk";
const ROOM = "packages/fleet/";
/** The only file that may read the engine's documented tables. */
const READER = "packages/fleet/src/engine-tables.ts";
/** Matches a property of one of the engine's objects, under the names that the fleet uses for them. */
const OBJECTS =
  /^(?:this\.#?)?(?:\w+\.)*(?:DBOS|DBOSClient|client|engine|system|executor)(?:\.prototype)?[.[]/;
const TABLE = /\bdbos"?\s*\.\s*"?(?:[a-z]+_[a-z_]+|notifications|streams|queues)\b(?!\s*\()/;
const WRITES =
  /\b(?:insert\s+into|update|delete\s+from|truncate(?:\s+table)?|alter\s+\w+|drop\s+\w+|create\s+[\w\s]*?(?:on|table|view|trigger)|lock\s+table|analyze|vacuum(?:\s+\w+)*)\s+(?:only\s+|if\s+(?:not\s+)?exists\s+)*"?dbos"?\b/i;

/** Checks that the fleet uses only the engine's public API, changes nothing of it, and writes to none of its tables. */
export function checkEngineDoor(files: Files): Verdict {
  const own = [...files].filter(([path]) => path.startsWith(ROOM) && isCode(path));
  const violations = own.flatMap(([path, text]) =>
    [...findImportFaults(path, text), ...findTableFaults(path, text), ...findChangeFaults(path, text)].map(
      ({ line, fault }) => `${path}:${line} ${fault}`,
    ),
  );
  return { looked: own.length, violations };
}

interface Fault {
  readonly line: number;
  readonly fault: string;
}

function findImportFaults(path: string, text: string): Fault[] {
  return findModuleUses(path, text).flatMap(({ line, specifier }) =>
    specifier?.startsWith(`${ENGINE}/`) ? [{ line, fault: `imports ${specifier}: use ${ENGINE}` }] : [],
  );
}

function findTableFaults(path: string, text: string): Fault[] {
  const mayRead = path === READER || isTest(path);
  return findWrittenTexts(path, text).flatMap(({ line, text: written }) => {
    if (WRITES.test(written)) return [{ line, fault: "writes a table of the engine" }];
    if (mayRead || !TABLE.test(written)) return [];
    return [{ line, fault: `reads a table of the engine: that belongs in ${READER}` }];
  });
}

function findChangeFaults(path: string, text: string): Fault[] {
  if (!findModuleUses(path, text).some(({ specifier }) => specifier === ENGINE)) return [];
  return findPropertyChanges(path, text).flatMap(({ line, target }) =>
    OBJECTS.test(target) ? [{ line, fault: `changes ${target}, which is the engine's` }] : [],
  );
}
