import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadBytes, tryReadEntries, tryRealPath } from "@burin/files/disk/disk-looks";
import { isFolder, makeFolders } from "@burin/files/disk/own-files";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { findChild, readIdMap } from "../processes/process-table.ts";
import { type Child, tryRunProgram } from "../processes/run-process.ts";
import { writeFilterFile } from "./call-filter.ts";
import { checkOnMachine } from "./check-on-machine.ts";
import { buildHookWords, confineHook } from "./confined-hook.ts";
import { type EnclosingRepository, findEnclosingRepositories } from "./enclosing-repository.ts";
import { mayStartPrograms } from "./git-settings.ts";
import { createReadingView, type ReadingView } from "./reading-view.ts";
import type { CommandSpace, Sandbox, SandboxedCommand, SandboxLimits } from "./sandbox.ts";
import { createGuardFactory, type Guard, UNGUARDED } from "./sandbox-guard.ts";
import { buildProtectedLayout } from "./sandbox-survey.ts";
import type { SpaceVisit } from "./space-visit.ts";
import { buildToolCaches, type ToolCaches } from "./tool-caches.ts";

/** The sockets of the whole machine. */
const MAX_TABLE_BYTES = 64 * 1024 * 1024;

/** Folders with sockets and other ways to reach programs outside; the second is a link to the first on most systems. */
const HIDDEN_FOLDERS = ["/run", "/var/run"].filter((path) => tryLstat(path)?.isDirectory());

/** Commands have one of their own in place of them. */
const TEMPORARY_FOLDERS = ["/tmp", "/var/tmp"];

/** Paths that have other content inside the sandbox than outside. */
const COVERED_FOLDERS = [...HIDDEN_FOLDERS, ...TEMPORARY_FOLDERS, "/dev", "/proc"];

/** The parts of them that programs need. */
const VISIBLE_AGAIN = ["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

/** The capabilities that a command of root keeps, so that it can work on other users' files inside the roots. */
const KEPT_RIGHTS = "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE".split(" ");

/** The first process of a pid namespace: when it ends, the kernel ends all others in it. */
const FIRST_PROCESS = '"$@"; exit $?';

/** Bubblewrap leaves its block descriptor open; close it before the command runs. */
const WITHOUT_CHANNEL = 'exec 5<&-; exec "$@"';

const FIRST_CHANNEL = 3;

/** Bubblewrap reads the system call filter from a descriptor, which this shell opens. */
const WITH_FILTER = 'exec 9<"$0" && exec "$@"';

/**
 * The sandbox with bubblewrap: a read-only system, writable roots except for files that run code later, and separate
 * processes.
 */
export function createLinuxSandbox(
  program: string,
  limits: SandboxLimits,
  isRoot = process.getuid?.() === 0,
): Sandbox & { probe(): string[] } {
  const { mode, temporary } = limits;
  const repositories = findEnclosingRepositories(limits.roots);
  const gitFolders = repositories.map(({ folder }) => folder);
  const capabilities = buildCapabilityOptions(isRoot);
  const canConfineHook = createNestedSandboxProbe(program, limits, isRoot);
  const guarded = { ...limits, gitFolders, canConfineHook };
  const begin = mode === "workspace-write" ? createGuardFactory(guarded) : async () => UNGUARDED;
  const view = limits.reading && createReadingView(limits.reading);
  return {
    mode,
    canConfineHook,
    /** Arguments that show whether bubblewrap works on this system. */
    probe: () => buildProbe(isRoot),
    async plan(command) {
      makeFolders(join(temporary, "tmp"));
      const hidden = buildHomeMounts(limits.home);
      const caches = createToolCaches(limits);
      const filter = writeFilterFile(temporary, command.network);
      const space = command.isAlone ? null : ((await limits.space?.()) ?? null);
      const visit = space?.begin() ?? null;
      const hasChannels = command.isAlone !== true && !command.hasTerminal;
      const way: LaunchMode = { space, isRoot, hasChannels };
      const filtered = buildFilterOptions(filter, way);
      // Begin the guard last of all that can fail on a full disk: nobody would end a guard that has no command.
      const guard = await begin(command);
      const confined = await confineHook(guard, { bubblewrap: program, capabilities, temporary });
      const args = [
        ...buildNamespaceOptions(command, way),
        // Keeps a command from typing into the user's terminal, unless it has one of its own.
        ...(command.hasTerminal ? [] : ["--new-session"]),
        ...buildMounts(command, limits, {
          ...guard,
          // A reader has no cache to write.
          caches: view ? [] : caches.mounts,
          isRoot,
          hidden,
          repositories,
          hasFilter: filter !== null && !command.network,
          view: view?.(limits.roots, command.cwd) ?? WHOLE_DISK,
        }),
        ...confined.mounts,
        ...filtered.options,
        ...["--chdir", command.cwd, "--", ...wrapCommand(command.argv, way)],
      ];
      const apart = [...(command.within ?? []), program, ...args];
      const line = space?.enter(command.network, [program, ...args]) ?? apart;
      const [first = program, ...rest] = [...filtered.opening, ...line];
      return {
        program: first,
        args: rest,
        env: { TMPDIR: "/tmp", ...caches.env, ...confined.env, ...(view && ACROSS_DISKS) },
        channels: countChannels(way),
        files: filtered.files,
        ...(visit && { onStart: (child: Child) => onStart(visit, child) }),
        visit,
        ...guard,
      };
    },
  };
}

/** When only a root is mounted, its parent is another file system, where git would stop with a different message. */
const ACROSS_DISKS = { GIT_DISCOVERY_ACROSS_FILESYSTEM: "1" };

/** A system may allow namespaces, but none inside others. */
function createNestedSandboxProbe(program: string, { space, environment }: SandboxLimits, isRoot: boolean) {
  const capabilities = buildCapabilityOptions(isRoot);
  const inner = [...buildHookWords({ bubblewrap: program, capabilities }, []), "true"];
  return async () =>
    // Root's sandbox has a read-only /proc, in which no namespace can get its ids.
    !isRoot &&
    checkOnMachine(`hook ${program}`, async () => {
      const line = (await space?.())?.enter(false, [program, ...buildSpaceProbe(isRoot, inner)]);
      const [first = program, ...rest] = line ?? [program, ...buildProbe(isRoot, inner)];
      return tryRunProgram(first, rest, environment);
    });
}

const NOTHING = ["true"];

function buildProbe(isRoot: boolean, inner: readonly string[] = NOTHING): string[] {
  const limits = [...buildUnshareOptions(false), ...buildCapabilityOptions(isRoot)];
  return [...limits, ...buildSystemMounts(isRoot, []), "--", ...inner];
}

/** Arguments that show whether a command can run in a space that it has entered. */
export function buildSpaceProbe(isRoot: boolean, inner: readonly string[] = NOTHING): string[] {
  const limits = ["--unshare-user", "--unshare-cgroup-try", ...buildCapabilityOptions(isRoot)];
  return [...limits, ...buildSystemMounts(isRoot, []), "--", ...inner];
}

interface LaunchMode {
  /** null for a space of its own. */
  readonly space: CommandSpace | null;
  readonly isRoot: boolean;
  readonly hasChannels: boolean;
}

/** Whether root's command gets the ids of all users in its user namespace. */
function hasAllIds({ space, isRoot, hasChannels }: LaunchMode): boolean {
  return space !== null && isRoot && hasChannels;
}

function countChannels(way: LaunchMode): number {
  if (!way.hasChannels) return 0;
  return hasAllIds(way) ? 3 : 1;
}

/** Opening the filter through an extra shell costs a tenth of a short command, but a terminal passes no file on. */
function buildFilterOptions(filter: string | null, way: LaunchMode) {
  if (filter === null) return { options: [], opening: [], files: [] };
  if (way.space === null || !way.hasChannels)
    return { options: ["--seccomp", "9"], opening: ["/bin/sh", "-c", WITH_FILTER, filter], files: [] };
  return { options: ["--seccomp", String(FIRST_CHANNEL + countChannels(way))], opening: [], files: [filter] };
}

function onStart(visit: SpaceVisit, child: Child): void {
  visit.outer = child.pid;
  void child.ended.then(() => {
    visit.outer = null;
  });
  if (child.channels.length > 1) mapIds(child);
}

/**
 * Maps all ids of this user namespace into that of a root user's command. Bubblewrap itself maps only one, with which
 * root could neither work on others' files nor unpack an archive. Bubblewrap reports its child on `info`; the child
 * continues when `go` gets a byte.
 */
function mapIds({ pid, channels }: Child): void {
  const [, info, go] = channels;
  info?.once("data", () => {
    const isMapped = withFallback(false, () => {
      const inner = findChild(findChild(pid)?.pid ?? 0)?.pid;
      if (inner === undefined) return false;
      for (const kind of ["uid", "gid"] as const)
        writeFileSync(`/proc/${inner}/${kind}_map`, readIdMap(kind));
      return true;
    });
    // Without these ids the command could do nothing useful, so its start fails.
    if (isMapped) go?.end("1");
    else withFallback(false, () => process.kill(pid, "SIGKILL"));
  });
}

function wrapCommand(argv: readonly string[], way: LaunchMode): readonly string[] {
  if (way.space === null) return ["/bin/sh", "-c", FIRST_PROCESS, "sh", ...argv];
  return hasAllIds(way) ? ["/bin/sh", "-c", WITHOUT_CHANNEL, "sh", ...argv] : argv;
}

interface SandboxContext extends Pick<Guard, "before" | "opened"> {
  readonly isRoot: boolean;
  readonly hidden: readonly string[];
  readonly repositories: readonly EnclosingRepository[];
  readonly caches: readonly string[];
  /** No socket of a program outside can be reached. */
  readonly hasFilter: boolean;
  readonly view: ReadingView;
}

/** Builds the mounts: what the command sees of the disk, and what of it the command can write. */
function buildMounts(
  command: SandboxedCommand,
  { roots, home, hide = [], temporary, mode, environment }: SandboxLimits,
  { before, opened: settings, isRoot, hidden, caches, repositories, hasFilter, view }: SandboxContext,
): string[] {
  const { network, readOnly = [], writes = [], git = "in the roots", neighbors = [] } = command;
  const gitFolders = repositories.map(({ folder }) => folder);
  const opened = before !== null && git === "everywhere" ? gitFolders : [];
  const all = before
    ? buildProtectedLayout(before, { roots: [...roots, ...opened], writes: [...writes, ...settings], git })
    : { pinned: [], readOnly: [] };
  const isClosed = (path: string) => isWithinAny(path, gitFolders) && opened.length === 0;
  const trees = repositories.filter((one) => canWriteWorkTree(one, command, { roots, environment }));
  const writable = [...trees.map(({ top }) => top), ...roots];
  const layout = { ...all, pinned: all.pinned.filter((path) => !isClosed(path)) };
  const bind = mode === "workspace-write" ? "--bind" : "--ro-bind";
  const secret = [...new Set(hide.flatMap((folder) => tryRealPath(folder) ?? []).filter(isFolder))];
  // A path inside another one is mounted with it, and could not be mounted afterwards.
  const away = secret.filter((one) => !secret.some((other) => other !== one && isWithin(one, other)));
  const covered = [...COVERED_FOLDERS, ...away];
  // If a root that contains one of these were mounted after it, the real content would show.
  const inner = (paths: readonly string[]) => paths.filter((path) => isWithinAny(path, covered));
  const outer = (paths: readonly string[]) => paths.filter((path) => !isWithinAny(path, covered));
  const privateTemporary = join(temporary, "tmp");
  const shown = neighbors.filter((path) => isFreeIn(privateTemporary, path));
  const sockets = hasFilter ? [] : listListeningSockets([...covered, ...roots, home], shown);
  return [
    ...buildSystemMounts(
      isRoot,
      [...bindEach("--ro-bind-try", outer(view.places)), ...bindEach(bind, outer(writable))],
      view.system,
    ),
    ...caches,
    ...TEMPORARY_FOLDERS.flatMap((folder) => ["--bind", privateTemporary, folder]),
    ...bindEach("--ro-bind-try", shown),
    ...away.flatMap((folder) => ["--tmpfs", folder]),
    ...bindEach(
      "--ro-bind",
      repositories.flatMap((one) => listHiddenParts(one, covered, roots)),
    ),
    ...bindEach("--ro-bind-try", inner(view.places)),
    ...bindEach(bind, inner(writable)),
    ...bindEach("--bind", opened),
    // Another program may remove one of them at this moment.
    ...bindEach("--bind-try", layout.pinned),
    ...bindEach("--ro-bind-try", [...layout.readOnly, ...readOnly]),
    ...sockets.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...bindEach("--ro-bind", network ? findResolvConf() : []),
    ...hidden,
    ...away.flatMap((folder) => ["--remount-ro", folder]),
    ...view.names.flatMap((path) => ["--dir", path]),
    ...(view === WHOLE_DISK ? [] : ["--remount-ro", "/"]),
  ];
}

/** Whether commands have put nothing at a path of the temporary folder: they see what they have written there. */
function isFreeIn(privateTemporary: string, path: string): boolean {
  const place = join(
    privateTemporary,
    relative(TEMPORARY_FOLDERS.find((one) => isWithin(path, one)) ?? "/", path),
  );
  const stats = tryLstat(place);
  return stats === null || (stats.isDirectory() && tryReadEntries(place).length === 0);
}

/** For an approved line of git commands alone, git may write outside the roots too. */
function canWriteWorkTree(
  { top, folder }: EnclosingRepository,
  { writes = [], trees = [], gitSettings }: SandboxedCommand,
  { roots, environment }: Pick<SandboxLimits, "roots" | "environment">,
): boolean {
  const isElsewhere = (path: string) => isWithin(path, top) && !isWithinAny(path, [...roots, folder]);
  const isMeant = trees.includes(top) || writes.some(isElsewhere);
  return gitSettings !== undefined && isMeant && !mayStartPrograms({ folder, environment }, gitSettings);
}

/**
 * Git reports a file that it does not see as deleted, so find the parts of a repository that are hidden by other
 * mounts.
 */
function listHiddenParts(
  { top, folder }: EnclosingRepository,
  covered: readonly string[],
  roots: readonly string[],
) {
  const isHidden = (path: string) => isWithinAny(path, covered) && !covered.includes(path);
  return [...(roots.includes(top) ? [] : [top]), folder].filter(isHidden);
}

function createToolCaches({ roots, home, hide = [], environment, temporary }: SandboxLimits): ToolCaches {
  const { HOME: userHome, XDG_CACHE_HOME: cacheHome } = environment;
  const unseen = [home, ...hide, ...listListeningSockets(COVERED_FOLDERS)].map(
    (path) => tryRealPath(path) ?? path,
  );
  const privateTemporary = join(temporary, "tmp");
  return buildToolCaches({ userHome, cacheHome, roots, covered: COVERED_FOLDERS, unseen, privateTemporary });
}

/**
 * A user namespace of its own keeps a command from opening the processes that guard it, and those of other commands.
 */
function buildNamespaceOptions({ network, within }: SandboxedCommand, way: LaunchMode): string[] {
  const own =
    way.space === null
      ? buildUnshareOptions(network || within !== undefined)
      : ["--unshare-user", "--unshare-cgroup-try"];
  return [
    ...own,
    ...(way.hasChannels ? ["--json-status-fd", "3"] : []),
    ...(hasAllIds(way) ? ["--info-fd", "4", "--userns-block-fd", "5"] : []),
    ...buildCapabilityOptions(way.isRoot),
  ];
}

function buildUnshareOptions(keepsNetwork: boolean): string[] {
  return [
    // Bubblewrap's own first process would report the command's exit, and the command could forge that report.
    ...["--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(keepsNetwork ? [] : ["--unshare-net"]),
  ];
}

function buildCapabilityOptions(isRoot: boolean): string[] {
  const kept = isRoot ? KEPT_RIGHTS.flatMap((right) => ["--cap-add", `CAP_${right}`]) : [];
  return ["--die-with-parent", "--cap-drop", "ALL", ...kept];
}

const WHOLE_DISK: ReadingView = { system: ["--ro-bind", "/", "/"], names: [], places: [] };

function buildSystemMounts(isRoot: boolean, outer: readonly string[], disk = WHOLE_DISK.system): string[] {
  return [
    ...[...disk, ...outer, "--dev", "/dev", "--proc", "/proc"],
    // For root, the kernel's settings in /proc would be writable. Other users need /proc unchanged to create
    // namespaces.
    ...(isRoot ? ["--remount-ro", "/proc"] : []),
    ...HIDDEN_FOLDERS.flatMap((folder) => ["--tmpfs", folder]),
    ...bindEach("--ro-bind-try", VISIBLE_AGAIN),
  ];
}

function bindEach(option: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => [option, path, path]);
}

/** In Burin's home only long outputs are shown. A home that cannot be created has nothing to hide. */
function buildHomeMounts(home: string): string[] {
  const output = join(home, "output");
  try {
    makeFolders(output);
    return ["--tmpfs", home, "--ro-bind", output, output, "--remount-ro", home];
  } catch {
    return isFolder(home) ? ["--tmpfs", home, "--remount-ro", home] : [];
  }
}

/**
 * A read-only mount does not keep a command from connecting to sockets of programs outside, some of which run what they
 * receive.
 */
function listListeningSockets(covered: readonly string[], shown: readonly string[] = []): string[] {
  const table = tryReadBytes("/proc/net/unix", MAX_TABLE_BYTES)?.toString() ?? "";
  const paths = new Set(table.split("\n").map((line) => line.slice(line.indexOf(" /") + 1)));
  const isSeen = (path: string) => !isWithinAny(path, covered) || isWithinAny(path, shown);
  return [...paths].filter(
    (path) => path.startsWith("/") && isSeen(path) && tryLstat(path)?.isSocket() === true,
  );
}

/** The real path of resolv.conf if it is in a hidden folder. */
function findResolvConf(): string[] {
  const real = tryRealPath("/etc/resolv.conf");
  return real !== null && isWithinAny(real, HIDDEN_FOLDERS) ? [real] : [];
}
