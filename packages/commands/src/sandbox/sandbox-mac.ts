import { join } from "node:path";
import { realPlace } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { protectedPaths } from "@burin/shell-judge";
import type { Sandbox, SandboxLimits } from "./sandbox.ts";
import { guardian, UNGUARDED } from "./sandbox-guard.ts";
import { protectedLayout, type Survey } from "./sandbox-survey.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** Seatbelt, with the program that macOS brings. Written from its documentation; not tried on a Mac so far. */
export function macSandbox(limits: SandboxLimits): Sandbox & { probe(): [program: string, args: string[]] } {
  const { mode } = limits;
  const begin = mode === "workspace-write" ? guardian(limits) : async () => UNGUARDED;
  // Beside it are the pipes of other commands. The system compares real paths.
  const temporary = join(realPlace(limits.temporary), "tmp");
  const writing = { ...limits, temporary };
  return {
    mode,
    probe: () => [SANDBOX_EXEC, ["-p", macProfile(writing, false, null), "/usr/bin/true"]],
    async plan({ argv, network, writes, readOnly = [] }) {
      makeFolders(temporary);
      const guard = await begin(writes ? { writes } : {});
      const args = [
        "-p",
        macProfile(writing, network, guard.before && { ...guard.before, readOnly }),
        ...argv,
      ];
      const own = { env: { TMPDIR: temporary }, channels: 0, visit: null };
      return { program: SANDBOX_EXEC, args, ...own, ...guard };
    },
  };
}

interface Protected extends Pick<Survey, "places"> {
  readonly writes?: readonly string[];
  readonly readOnly?: readonly string[];
}

/** Later rules win. Paths that do not exist can be denied too. */
export function macProfile(
  { mode, roots, home, hide = [], temporary }: SandboxLimits,
  network: boolean,
  survey: Protected | null,
): string {
  const writable = mode === "workspace-write" ? [...roots, temporary] : [temporary];
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${["/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/tty"].map(literal).join(" ")})`,
    '(allow file-write* (regex #"^/dev/fd/"))',
    ...hide.flatMap((folder) => [
      `(deny file-read* ${subpath(folder)})`,
      `(allow file-read* ${roots.map(subpath).join(" ")})`,
    ]),
    `(allow file-write* ${writable.map(subpath).join(" ")})`,
    ...(survey === null ? [] : protecting(survey, roots)),
    "(deny file-write-setugid)",
    `(deny file-read* file-write* ${subpath(home)})`,
    `(allow file-read* ${subpath(join(home, "output"))})`,
    ...(network ? [] : ["(deny network*)", '(allow network* (local ip "localhost:*"))']),
    "",
  ].join("\n");
}

/** New repositories and packages are checked afterwards. */
function protecting(
  { writes = [], readOnly: kept = [], ...survey }: Protected,
  roots: readonly string[],
): string[] {
  const { denied, allowed } = protectedPaths();
  const patterns = roots.map((root) => root.replace(/[\\^$.*+?()[\]{}|"]/g, "\\$&"));
  const below = `^(${patterns.join("|")})(/.*)?`;
  const { pinned, readOnly: own } = protectedLayout(survey, { roots, writes });
  const readOnly = [...own, ...kept];
  return [
    `(deny file-write* (regex #"${below}${denied}"))`,
    `(allow file-write* (regex #"${below}${allowed}") (regex #"${below}/node_modules/"))`,
    ...(pinned.length > 0 ? [`(deny file-write-unlink ${pinned.map(literal).join(" ")})`] : []),
    ...(readOnly.length > 0 ? [`(deny file-write* ${readOnly.map(subpath).join(" ")})`] : []),
    ...(writes.length > 0 ? [`(allow file-write* ${writes.map(subpath).join(" ")})`] : []),
  ];
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
