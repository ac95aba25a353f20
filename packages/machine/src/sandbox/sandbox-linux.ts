import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isFolder, makeFolders } from "../disk/make-folders.ts";
import { isWithin } from "../files/paths.ts";
import type { Sandbox, SandboxedCommand, SandboxLimits, SandboxPlan } from "./sandbox.ts";
import { filterFile } from "./sandbox-filter.ts";
import { listeningSockets, nameServers, protectedLayout } from "./sandbox-layout.ts";
import { Protection } from "./sandbox-protection.ts";

/** Folders of sockets and other ways to talk to programs outside; the second is a link to the first on most systems. */
const HIDDEN = ["/run", "/var/run"].filter(isRealFolder);

/** Places that are not what they are outside. */
const COVERED = [...HIDDEN, "/tmp", "/var/tmp", "/dev", "/proc"];

/** What programs need of those. */
const SHOWN_AGAIN = ["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

/** What a root user's command keeps, so that it can work on files of others inside the roots. */
const KEPT_RIGHTS = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "NET_BIND_SERVICE",
];

/** Caches in the home folder are read-only; these programs fail without one that they can write. */
const CACHES = {
  npm_config_cache: "/tmp/.cache/npm",
  PIP_CACHE_DIR: "/tmp/.cache/pip",
  GOCACHE: "/tmp/.cache/go-build",
};

/**
 * Stays beside the command: tells its exit code and how many processes there are, and when that is more than
 * itself and the first one, waits until nobody wants them any more. Its end ends everything in the sandbox.
 */
const KEEPER = `exec 4>&2 2>/dev/null; trap : TERM INT HUP; (exec "$@" 2>&4 3>&- 4>&-); code=$?; trap '' TERM INT HUP; set -- /proc/[0-9]*; echo "$code $#" >&3; [ $# -le 2 ] || read -r end <&3; exit $code`;

/** Bubblewrap reads the filter of system calls from a descriptor, which this opens. */
const WITH_FILTER = 'exec 9<"$0" && exec "$@"';

/** Bubblewrap: a read-only system, the roots writable but for what runs code later, its own process space. */
export class LinuxSandbox implements Sandbox {
  readonly mode: Sandbox["mode"];
  readonly #program: string;
  readonly #limits: SandboxLimits;
  readonly #protection: Protection;
  readonly #isRoot: boolean;

  constructor(program: string, limits: SandboxLimits, isRoot = process.getuid?.() === 0) {
    this.mode = limits.mode;
    this.#program = program;
    this.#limits = limits;
    this.#isRoot = isRoot;
    this.#protection = new Protection(limits);
  }

  /** Arguments that show whether this system lets bubblewrap work. */
  probe(): string[] {
    return [...spaces(false, this.#isRoot), ...system(this.#isRoot, []), "--", "true"];
  }

  async plan(command: SandboxedCommand): Promise<SandboxPlan> {
    const { roots, home, temporary, mode } = this.#limits;
    const privateTemporary = join(temporary, "tmp");
    makeFolders(privateTemporary);
    const hidden = hiddenHome(home);
    const guard = mode === "workspace-write" ? this.#protection.begin() : null;
    const layout = guard === null ? { pinned: [], readOnly: [] } : protectedLayout(guard.before, roots);
    const filter = command.network ? null : filterFile(temporary);
    const bind = mode === "workspace-write" ? "--bind" : "--ro-bind";
    // A root that holds one of the places below would show what is really there, if it came after them.
    const outer = roots.filter((root) => !COVERED.some((place) => isWithin(root, place)));
    const isCovered = (path: string) => [...COVERED, ...roots, home].some((folder) => isWithin(path, folder));
    const args = [
      ...spaces(command.network, this.#isRoot),
      // A session of its own keeps a command from typing into the person's terminal; this one has another.
      ...(command.hasTerminal ? [] : ["--new-session"]),
      ...system(this.#isRoot, alike(bind, outer)),
      ...pairs("--bind", [
        [privateTemporary, "/tmp"],
        [privateTemporary, "/var/tmp"],
      ]),
      ...alike(
        bind,
        roots.filter((root) => !outer.includes(root)),
      ),
      // Somebody outside may take one of them away at this moment.
      ...alike("--bind-try", layout.pinned),
      ...alike("--ro-bind-try", layout.readOnly),
      ...pairs(
        "--ro-bind",
        filter === null ? listeningSockets(isCovered).map((path) => ["/dev/null", path]) : [],
      ),
      ...alike("--ro-bind", command.network ? (nameServers(HIDDEN) ?? []) : []),
      ...hidden,
      ...(filter === null ? [] : ["--seccomp", "9"]),
      ...["--chdir", command.cwd, "--"],
      ...(command.isAlone ? [] : ["/bin/sh", "-c", KEEPER, "sh"]),
      ...command.argv,
    ];
    return {
      program: filter === null ? this.#program : "/bin/sh",
      args: filter === null ? args : ["-c", WITH_FILTER, filter, this.#program, ...args],
      env: { TMPDIR: "/tmp", ...CACHES },
      hasControl: command.isAlone !== true,
      before: guard?.before ?? null,
      look: () => guard?.watch.look() ?? [],
      release: () => guard?.watch.close() ?? [],
    };
  }
}

function spaces(network: boolean, isRoot: boolean): string[] {
  const rights = isRoot ? KEPT_RIGHTS.flatMap((right) => ["--cap-add", `CAP_${right}`]) : [];
  return [
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--cap-drop", "ALL", ...rights],
    ...(network ? [] : ["--unshare-net"]),
  ];
}

function system(isRoot: boolean, outerRoots: readonly string[]): string[] {
  return [
    ...["--ro-bind", "/", "/", ...outerRoots, "--dev", "/dev", "--proc", "/proc"],
    // For root the kernel's switches would be writable there; others need it as it is for spaces of their own.
    ...(isRoot ? ["--remount-ro", "/proc"] : []),
    ...HIDDEN.flatMap((folder) => ["--tmpfs", folder]),
    ...SHOWN_AGAIN.flatMap((folder) => ["--ro-bind-try", folder, folder]),
  ];
}

function alike(option: string, paths: string | readonly string[]): string[] {
  return [paths].flat().flatMap((path) => [option, path, path]);
}

function pairs(option: string, places: readonly (readonly string[])[]): string[] {
  return places.flatMap((place) => [option, ...place]);
}

function isRealFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Of what belongs to the person only long outputs are shown. A home that cannot be made holds nothing to hide. */
function hiddenHome(home: string): string[] {
  const output = join(home, "output");
  try {
    makeFolders(output);
    return ["--tmpfs", home, "--ro-bind", output, output, "--remount-ro", home];
  } catch {
    return isFolder(home) ? ["--tmpfs", home, "--remount-ro", home] : [];
  }
}
