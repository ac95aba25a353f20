import { join } from "node:path";
import { resolvePossiblyMissing } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/own-files";
import { buildProtectedPatterns } from "@burin/shell-judge";
import type { Sandbox, SandboxLimits } from "./sandbox.ts";
import { createGuardFactory, UNGUARDED } from "./sandbox-guard.ts";
import { buildProtectedLayout, type Survey } from "./sandbox-survey.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** Seatbelt, with the program that macOS brings. Written from its documentation; not tried on a Mac so far. */
export function createMacSandbox(
  limits: SandboxLimits,
): Sandbox & { probe(): [program: string, args: string[]] } {
  const { mode } = limits;
  const begin = mode === "workspace-write" ? createGuardFactory(limits) : async () => UNGUARDED;
  // The pipes of other commands are beside it. The system compares real paths.
  const temporary = join(resolvePossiblyMissing(limits.temporary), "tmp");
  const writing = { ...limits, temporary };
  return {
    mode,
    probe: () => [SANDBOX_EXEC, ["-p", buildMacProfile(writing, false, null), "/usr/bin/true"]],
    async plan({ argv, network, writes, readOnly = [] }) {
      makeFolders(temporary);
      const guard = await begin(writes ? { writes } : {});
      const args = [
        "-p",
        buildMacProfile(writing, network, guard.before && { ...guard.before, readOnly }),
        ...argv,
      ];
      const own = { env: { TMPDIR: temporary }, channels: 0, visit: null };
      return { program: SANDBOX_EXEC, args, ...own, ...guard };
    },
  };
}

interface ProtectedSurvey extends Pick<Survey, "places"> {
  readonly writes?: readonly string[];
  readonly readOnly?: readonly string[];
}

/** Later rules win. Paths that do not exist can be denied too. */
export function buildMacProfile(
  { mode, roots, home, hide = [], temporary }: SandboxLimits,
  network: boolean,
  survey: ProtectedSurvey | null,
): string {
  const writable = mode === "workspace-write" ? [...roots, temporary] : [temporary];
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${["/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/tty"].map(formatLiteral).join(" ")})`,
    '(allow file-write* (regex #"^/dev/fd/"))',
    ...hide.flatMap((folder) => [
      `(deny file-read* ${formatSubpath(folder)})`,
      `(allow file-read* ${roots.map(formatSubpath).join(" ")})`,
    ]),
    `(allow file-write* ${writable.map(formatSubpath).join(" ")})`,
    ...(survey === null ? [] : buildProtectionRules(survey, roots)),
    "(deny file-write-setugid)",
    `(deny file-read* file-write* ${formatSubpath(home)})`,
    `(allow file-read* ${formatSubpath(join(home, "output"))})`,
    ...(network ? [] : ["(deny network*)", '(allow network* (local ip "localhost:*"))']),
    "",
  ].join("\n");
}

/** New repositories and packages are checked afterwards. */
function buildProtectionRules(
  { writes = [], readOnly: kept = [], ...survey }: ProtectedSurvey,
  roots: readonly string[],
): string[] {
  const { denied, allowed } = buildProtectedPatterns();
  const patterns = roots.map((root) => root.replace(/[\\^$.*+?()[\]{}|"]/g, "\\$&"));
  const below = `^(${patterns.join("|")})(/.*)?`;
  const { pinned, readOnly: own } = buildProtectedLayout(survey, { roots, writes });
  const readOnly = [...own, ...kept];
  return [
    `(deny file-write* (regex #"${below}${denied}"))`,
    `(allow file-write* (regex #"${below}${allowed}") (regex #"${below}/node_modules/"))`,
    ...(pinned.length > 0 ? [`(deny file-write-unlink ${pinned.map(formatLiteral).join(" ")})`] : []),
    ...(readOnly.length > 0 ? [`(deny file-write* ${readOnly.map(formatSubpath).join(" ")})`] : []),
    ...(writes.length > 0 ? [`(allow file-write* ${writes.map(formatSubpath).join(" ")})`] : []),
  ];
}

function formatLiteral(path: string): string {
  return `(literal ${quotePath(path)})`;
}

function formatSubpath(path: string): string {
  return `(subpath ${quotePath(path)})`;
}

function quotePath(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
