import type { Files, Verdict } from "./repository-files.ts";

/** The doors of the library, and what each of them hands on whole. */
const DOORS = ["index", "adapters", "machine", "sessions", "testing"];
const HANDED_ON: Readonly<Record<string, string>> = { "@burin/testing": "packages/testing/src/index.ts" };

/** Each name that others can import, with its door; a type is marked. Changed on purpose, and only then. */
export const NAMES_FILE = "packages/core/public-names.txt";

export function publicNames(files: Files): Verdict {
  const found = DOORS.flatMap((door) => {
    const place = door === "index" ? "@burin/core" : `@burin/core/${door}`;
    return namesIn(files, `packages/core/src/${door}.ts`).map((name) => `${place} ${name}`);
  });
  const listed = (files.get(NAMES_FILE) ?? "").split("\n").filter((line) => line !== "");
  const added = found.filter((line) => !listed.includes(line));
  const gone = listed.filter((line) => !found.includes(line));
  const violations = [
    ...added.map(
      (line) => `${NAMES_FILE}:1 does not list "${line}": others will rely on it, add it on purpose`,
    ),
    ...gone.map(
      (line) => `${NAMES_FILE}:1 lists "${line}", which is gone: others may use it, keep it one version`,
    ),
  ];
  return { looked: found.length, violations };
}

function namesIn(files: Files, path: string): string[] {
  const text = files.get(path) ?? "";
  const handed = [...text.matchAll(/export \* from "([^"]+)"/g)].map(
    ([, from = ""]) => HANDED_ON[from] ?? from,
  );
  const lists = [...text.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, type = "", names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => {
        const own = name.replace(/^type /, "").replace(/^.* as /, "");
        return type !== "" || name.startsWith("type ") ? `type ${own}` : own;
      }),
  );
  const written = [...text.matchAll(/^export (?:async )?(function|class|const|interface|type) (\w+)/gm)];
  const declared = written.map(([, kind = "", name = ""]) =>
    /interface|type/.test(kind) ? `type ${name}` : name,
  );
  return [...lists, ...declared, ...handed.flatMap((one) => namesIn(files, one))].sort();
}
