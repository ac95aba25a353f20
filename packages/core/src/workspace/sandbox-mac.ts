import { join } from "node:path";
import { PROTECTED_IN_GIT } from "../text/protected-files.ts";
import type { Sandbox, SandboxedCommand, SandboxLimits, SandboxPlan } from "./sandbox.ts";
import { protectedNames } from "./sandbox-layout.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** Seatbelt, through the program that macOS brings. Written by its documents; not run on a Mac so far. */
export class MacSandbox implements Sandbox {
  readonly mode: Sandbox["mode"];
  readonly #limits: SandboxLimits;

  constructor(limits: SandboxLimits) {
    this.mode = limits.mode;
    this.#limits = limits;
  }

  probe(): [program: string, args: string[]] {
    return [SANDBOX_EXEC, ["-p", macProfile(this.#limits, false), "/usr/bin/true"]];
  }

  plan({ argv, network }: SandboxedCommand): Promise<SandboxPlan> {
    return Promise.resolve({
      program: SANDBOX_EXEC,
      args: ["-p", macProfile(this.#limits, network), ...argv],
      env: { TMPDIR: this.#limits.temporary },
      hasControl: false,
      mountPoints: [],
      release: () => {},
    });
  }
}

/** Later rules win. Names that do not exist can be denied just as well, so nothing has to be made. */
export function macProfile({ mode, roots, home, temporary }: SandboxLimits, network: boolean): string {
  const writable = mode === "workspace-write" ? [...roots, temporary] : [temporary];
  const isProtecting = mode === "workspace-write";
  const denied = isProtecting ? roots.flatMap(protectedIn) : [];
  const inGit = PROTECTED_IN_GIT.map((name) => name.replace(".", "\\.")).join("|");
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${["/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/tty"].map(literal).join(" ")})`,
    '(allow file-write* (regex #"^/dev/fd/"))',
    `(allow file-write* ${writable.map(subpath).join(" ")})`,
    ...(denied.length > 0 ? [`(deny file-write* ${denied.map(subpath).join(" ")})`] : []),
    ...(isProtecting ? [`(deny file-write* (regex #"/\\.git(/modules/[^/]+)?/(${inGit})(/|$)"))`] : []),
    ...(isProtecting ? ['(deny file-write-unlink (regex #"/\\.git$"))'] : []),
    `(deny file-read* file-write* ${subpath(home)})`,
    `(allow file-read* ${subpath(join(home, "output"))})`,
    ...(network ? [] : ["(deny network*)", '(allow network* (local ip "localhost:*"))']),
    "",
  ].join("\n");
}

function protectedIn(root: string): string[] {
  return protectedNames(root).map(({ name }) => join(root, name));
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
