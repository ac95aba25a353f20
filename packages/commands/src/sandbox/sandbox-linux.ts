import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { bytesOf, lstatOf, realOf } from "@burin/files/disk/disk-looks";
import { isFolder, makeFolders } from "@burin/files/disk/make-folders";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { findChild, readIdMap } from "../processes/process-table.ts";
import type { Child } from "../processes/run-process.ts";
import { filterFile } from "./call-filter.ts";
import { type EnclosingRepository, findEnclosing } from "./enclosing-repository.ts";
import { mayStartPrograms } from "./git-settings.ts";
import { type ReadingView, readingView } from "./reading-view.ts";
import type { CommandSpace, Sandbox, SandboxedCommand, SandboxLimits } from "./sandbox.ts";
import { type Guard, guardian, UNGUARDED } from "./sandbox-guard.ts";
import { protectedLayout } from "./sandbox-survey.ts";
import type { SpaceVisit } from "./space-visit.ts";
import { type ToolCaches, toolCaches } from "./tool-caches.ts";

/** The sockets of the whole machine. */
const MOST_TABLE_BYTES = 64 * 1024 * 1024;

/** Folders with sockets and other ways to reach programs outside; the second is a link to the first on most systems. */
const HIDDEN = ["/run", "/var/run"].filter((path) => lstatOf(path)?.isDirectory());

/** Paths that have other content inside the sandbox than outside. */
const COVERED = [...HIDDEN, "/tmp", "/var/tmp", "/dev", "/proc"];

/** The parts of them that programs need. */
const SHOWN_AGAIN = ["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

/** The capabilities that a root user's command keeps, so that it can work on files of other users inside the roots. */
const KEPT_RIGHTS = "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE".split(" ");

/** The first process of a space: the kernel ends the others with it, and has no other way to end it from inside. */
const FIRST = '"$@"; exit $?';

/** Not for the command: what bubblewrap has waited on is left open by it. */
const WITHOUT_CHANNEL = 'exec 5<&-; exec "$@"';

const FIRST_CHANNEL = 3;

/** Bubblewrap reads the system call filter from a descriptor, which this opens. */
const WITH_FILTER = 'exec 9<"$0" && exec "$@"';

/** Bubblewrap: a read-only system, the roots writable except for what runs code later, and its processes apart. */
export function linuxSandbox(
  program: string,
  limits: SandboxLimits,
  isRoot = process.getuid?.() === 0,
): Sandbox & { probe(): string[] } {
  const { mode, temporary } = limits;
  const repositories = findEnclosing(limits.roots);
  const gitFolders = repositories.map(({ folder }) => folder);
  const begin = mode === "workspace-write" ? guardian({ ...limits, gitFolders }) : async () => UNGUARDED;
  const view = limits.reading && readingView(limits.reading);
  return {
    mode,
    /** Arguments that show whether bubblewrap works on this system. */
    probe: () => [...apart(false), ...rights(isRoot), ...system(isRoot, []), "--", "true"],
    async plan(command) {
      makeFolders(join(temporary, "tmp"));
      const hidden = hiddenHome(limits.home);
      const caches = cachesOf(limits);
      const filter = filterFile(temporary, command.network);
      const space = command.isAlone ? null : ((await limits.space?.()) ?? null);
      const visit = space?.begin() ?? null;
      const way: Way = { space, isRoot, hasChannels: command.isAlone !== true && !command.hasTerminal };
      const filtered = handFilter(filter, way);
      // Last of what a full disk can refuse: nobody would end a guard without a command.
      const guard = await begin(command);
      const args = [
        ...spaces(command, way),
        // Its own session keeps a command from typing into the user's terminal; a command with its own terminal has
        // another session anyway.
        ...(command.hasTerminal ? [] : ["--new-session"]),
        ...places(command, limits, {
          ...guard,
          // A reader has no cache to write.
          caches: view ? [] : caches.mounts,
          isRoot,
          hidden,
          repositories,
          hasFilter: filter !== null && !command.network,
          view: view?.(limits.roots, command.cwd) ?? WHOLE,
        }),
        ...filtered.options,
        ...["--chdir", command.cwd, "--", ...inside(command.argv, way)],
      ];
      const apart = [...(command.within ?? []), program, ...args];
      const line = space?.enter(command.network, [program, ...args]) ?? apart;
      const [first = program, ...rest] = [...filtered.opening, ...line];
      return {
        program: first,
        args: rest,
        // A root that is mounted alone has another file system above it, where git would stop with other words.
        env: { TMPDIR: "/tmp", ...caches.env, ...(view && { GIT_DISCOVERY_ACROSS_FILESYSTEM: "1" }) },
        channels: channelsOf(way),
        files: filtered.files,
        ...(visit && { onStart: (child: Child) => onStart(visit, child) }),
        visit,
        ...guard,
      };
    },
  };
}

/** Arguments that show whether a command can run in a space that it has entered. */
export function probeInSpace(isRoot: boolean): string[] {
  return ["--unshare-user", "--unshare-cgroup-try", ...rights(isRoot), ...system(isRoot, []), "--", "true"];
}

interface Way {
  /** null for a space of its own. */
  readonly space: CommandSpace | null;
  readonly isRoot: boolean;
  readonly hasChannels: boolean;
}

/** Whether root's command gets the ids of all users in its user namespace. */
function hasAllIds({ space, isRoot, hasChannels }: Way): boolean {
  return space !== null && isRoot && hasChannels;
}

function channelsOf(way: Way): number {
  if (!way.hasChannels) return 0;
  return hasAllIds(way) ? 3 : 1;
}

/** A shell in between costs a tenth of a short command; a terminal hands no file on. */
function handFilter(filter: string | null, way: Way) {
  if (filter === null) return { options: [], opening: [], files: [] };
  if (way.space === null || !way.hasChannels)
    return { options: ["--seccomp", "9"], opening: ["/bin/sh", "-c", WITH_FILTER, filter], files: [] };
  return { options: ["--seccomp", String(FIRST_CHANNEL + channelsOf(way))], opening: [], files: [filter] };
}

function onStart(visit: SpaceVisit, child: Child): void {
  visit.outer = child.pid;
  void child.ended.then(() => {
    visit.outer = null;
  });
  if (child.channels.length > 1) mapIds(child);
}

/**
 * Gives the user namespace of a root user's command all ids of this one; bubblewrap itself gives it one, with which root
 * could neither work on files of others nor unpack an archive. `info` ends the wait for bubblewrap's child, which goes on
 * when `go` gets a byte.
 */
function mapIds({ pid, channels }: Child): void {
  const [, info, go] = channels;
  info?.once("data", () => {
    const isMapped = orElse(false, () => {
      const inner = findChild(findChild(pid)?.pid ?? 0)?.pid;
      if (inner === undefined) return false;
      for (const kind of ["uid", "gid"] as const)
        writeFileSync(`/proc/${inner}/${kind}_map`, readIdMap(kind));
      return true;
    });
    // Without its ids it could do nothing useful; its start fails.
    if (isMapped) go?.end("1");
    else orElse(false, () => process.kill(pid, "SIGKILL"));
  });
}

function inside(argv: readonly string[], way: Way): readonly string[] {
  if (way.space === null) return ["/bin/sh", "-c", FIRST, "sh", ...argv];
  return hasAllIds(way) ? ["/bin/sh", "-c", WITHOUT_CHANNEL, "sh", ...argv] : argv;
}

interface Around extends Pick<Guard, "before" | "opened"> {
  readonly isRoot: boolean;
  readonly hidden: readonly string[];
  readonly repositories: readonly EnclosingRepository[];
  readonly caches: readonly string[];
  /** No socket of a program outside can be reached. */
  readonly hasFilter: boolean;
  readonly view: ReadingView;
}

/** What the command sees of the disk, and what of it it can write. */
function places(
  command: SandboxedCommand,
  { roots, home, hide = [], temporary, mode }: SandboxLimits,
  { before, opened: settings, isRoot, hidden, caches, repositories, hasFilter, view }: Around,
): string[] {
  const { network, readOnly = [], writes = [], git = "in the roots" } = command;
  const gitFolders = repositories.map(({ folder }) => folder);
  const opened = before !== null && git === "everywhere" ? gitFolders : [];
  const all = before
    ? protectedLayout(before, { roots: [...roots, ...opened], writes: [...writes, ...settings], git })
    : { pinned: [], readOnly: [] };
  const isClosed = (path: string) => isWithinAny(path, gitFolders) && opened.length === 0;
  const trees = repositories.filter((one) => isWhole(one, command, roots));
  const writable = [...trees.map(({ top }) => top), ...roots];
  const layout = { ...all, pinned: all.pinned.filter((path) => !isClosed(path)) };
  const bind = mode === "workspace-write" ? "--bind" : "--ro-bind";
  const secret = [...new Set(hide.flatMap((folder) => realOf(folder) ?? []).filter(isFolder))];
  // What is within another one goes with it, and could not be mounted behind it.
  const away = secret.filter((one) => !secret.some((other) => other !== one && isWithin(one, other)));
  const covered = [...COVERED, ...away];
  // A root that contains one of them would show the real content if it was mounted after them.
  const inner = (paths: readonly string[]) => paths.filter((path) => isWithinAny(path, covered));
  const outer = (paths: readonly string[]) => paths.filter((path) => !isWithinAny(path, covered));
  const privateTemporary = join(temporary, "tmp");
  const sockets = hasFilter ? [] : listeningSockets([...covered, ...roots, home]);
  return [
    ...system(
      isRoot,
      [...alike("--ro-bind-try", outer(view.places)), ...alike(bind, outer(writable))],
      view.system,
    ),
    ...caches,
    ...["/tmp", "/var/tmp"].flatMap((folder) => ["--bind", privateTemporary, folder]),
    ...away.flatMap((folder) => ["--tmpfs", folder]),
    ...alike(
      "--ro-bind",
      repositories.flatMap((one) => partsHidden(one, covered, roots)),
    ),
    ...alike("--ro-bind-try", inner(view.places)),
    ...alike(bind, inner(writable)),
    ...alike("--bind", opened),
    // Another program may remove one of them at this moment.
    ...alike("--bind-try", layout.pinned),
    ...alike("--ro-bind-try", [...layout.readOnly, ...readOnly]),
    ...sockets.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...alike("--ro-bind", network ? nameServers() : []),
    ...hidden,
    ...away.flatMap((folder) => ["--remount-ro", folder]),
    ...view.names.flatMap((path) => ["--dir", path]),
    ...(view === WHOLE ? [] : ["--remount-ro", "/"]),
  ];
}

/** Git alone writes there what the user has approved, also outside the roots. */
function isWhole(
  { top, folder }: EnclosingRepository,
  { writes = [], trees = [], gitSettings }: SandboxedCommand,
  roots: readonly string[],
): boolean {
  const isElsewhere = (path: string) => isWithin(path, top) && !isWithinAny(path, [...roots, folder]);
  const isMeant = trees.includes(top) || writes.some(isElsewhere);
  return gitSettings !== undefined && isMeant && !mayStartPrograms(folder, gitSettings);
}

/** Git shows a file that it does not see as removed: what of a repository is where other content is mounted. */
function partsHidden(
  { top, folder }: EnclosingRepository,
  covered: readonly string[],
  roots: readonly string[],
) {
  const isHidden = (path: string) => isWithinAny(path, covered) && !covered.includes(path);
  return [...(roots.includes(top) ? [] : [top]), folder].filter(isHidden);
}

function cachesOf({ roots, home, hide = [], environment = {}, temporary }: SandboxLimits): ToolCaches {
  const { HOME: userHome, XDG_CACHE_HOME: cacheHome } = environment;
  const unseen = [home, ...hide, ...listeningSockets(COVERED)].map((path) => realOf(path) ?? path);
  const privateTemporary = join(temporary, "tmp");
  return toolCaches({ userHome, cacheHome, roots, covered: COVERED, unseen, privateTemporary });
}

/** A user namespace of its own keeps a command from opening the processes that watch over it, and those of others. */
function spaces({ network, within }: SandboxedCommand, way: Way): string[] {
  const own =
    way.space === null ? apart(network || within !== undefined) : ["--unshare-user", "--unshare-cgroup-try"];
  return [
    ...own,
    ...(way.hasChannels ? ["--json-status-fd", "3"] : []),
    ...(hasAllIds(way) ? ["--info-fd", "4", "--userns-block-fd", "5"] : []),
    ...rights(way.isRoot),
  ];
}

function apart(keepsNetwork: boolean): string[] {
  return [
    // Bubblewrap's own first process would say how the command ended, and let the command say it.
    ...["--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(keepsNetwork ? [] : ["--unshare-net"]),
  ];
}

function rights(isRoot: boolean): string[] {
  const kept = isRoot ? KEPT_RIGHTS.flatMap((right) => ["--cap-add", `CAP_${right}`]) : [];
  return ["--die-with-parent", "--cap-drop", "ALL", ...kept];
}

const WHOLE: ReadingView = { system: ["--ro-bind", "/", "/"], names: [], places: [] };

function system(isRoot: boolean, outer: readonly string[], disk = WHOLE.system): string[] {
  return [
    ...[...disk, ...outer, "--dev", "/dev", "--proc", "/proc"],
    // As root, the kernel's switches would be writable there; other users need it unchanged to create namespaces.
    ...(isRoot ? ["--remount-ro", "/proc"] : []),
    ...HIDDEN.flatMap((folder) => ["--tmpfs", folder]),
    ...alike("--ro-bind-try", SHOWN_AGAIN),
  ];
}

function alike(option: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => [option, path, path]);
}

/** In Burin's home only long outputs are shown. A home that cannot be created has nothing to hide. */
function hiddenHome(home: string): string[] {
  const output = join(home, "output");
  try {
    makeFolders(output);
    return ["--tmpfs", home, "--ro-bind", output, output, "--remount-ro", home];
  } catch {
    return isFolder(home) ? ["--tmpfs", home, "--remount-ro", home] : [];
  }
}

/** A read-only mount does not keep a command from connecting to programs outside, some of which run what they get. */
function listeningSockets(covered: readonly string[]): string[] {
  const table = bytesOf("/proc/net/unix", MOST_TABLE_BYTES)?.toString() ?? "";
  const paths = new Set(table.split("\n").map((line) => line.slice(line.indexOf(" /") + 1)));
  return [...paths].filter(
    (path) => path.startsWith("/") && !isWithinAny(path, covered) && lstatOf(path)?.isSocket() === true,
  );
}

/** The real path of resolv.conf if it is in a hidden folder. */
function nameServers(): string[] {
  const real = realOf("/etc/resolv.conf");
  return real !== null && isWithinAny(real, HIDDEN) ? [real] : [];
}
