import type { MachineCommands } from "@burin/commands/machine";
import type { CommandRequest, RunningCommand } from "@burin/commands/shell/command-request";
import { formatOutput } from "@burin/commands/shell/output-text";

export interface RefusalCase {
  readonly hasFailed: boolean;
  readonly mode: "read-only" | "workspace-write";
  readonly hasNetwork: boolean;
  /** true if commands can reach named hosts through a proxy, so that having no other network is expected. */
  readonly reachesByName?: boolean;
  readonly roots: readonly string[];
  /** Paths that it could only read, because undo could not bring them back. */
  readonly readOnly?: readonly string[];
  /** Paths that it names, that exist, and that it could not see. */
  readonly hidden?: readonly string[];
}

type RefusalKind = "cache" | "write" | "network" | "socket" | "right";

/** Folders in the home folder in which programs keep what they can make again. */
const CACHE = String.raw`/\.(?:cache|npm|cargo|m2|gradle|nuget|bun|yarn|gem|local/share/pnpm)/`;

/** What programs print when the sandbox refuses them something. The first matching row counts. */
export const REFUSALS: readonly (readonly [
  kind: RefusalKind,
  words: RegExp,
  example: string,
  programs: string,
])[] = [
  [
    "cache",
    new RegExp(String.raw`${CACHE}[^\n]*(?:Read-only file system|\bEROFS\b)`),
    "touch: cannot touch '/home/a/.cache/lint/state': Read-only file system",
    "any program that caches in the home folder",
  ],
  [
    "cache",
    new RegExp(String.raw`\bEROFS\b[^\n]*${CACHE}`),
    "Error: EROFS: read-only file system, mkdir '/home/a/.npm/_cacache'",
    "Node: npm, yarn, pnpm",
  ],
  [
    "write",
    /attempt to write a readonly database/,
    "sqlite3.OperationalError: attempt to write a readonly database",
    "SQLite",
  ],
  [
    "write",
    /Read-only file system|\bEROFS\b|Device or resource busy/,
    "Error: EROFS: read-only file system, open '/etc/x'",
    "any program",
  ],
  [
    "write",
    /unable to create temporary object directory/,
    "error: remote unpack failed: unable to create temporary object directory",
    "git, for a repository that it pushes to",
  ],
  [
    "network",
    /Network is unreachable|\bENETUNREACH\b/i,
    "connect: Network is unreachable",
    "any program that knows the address",
  ],
  [
    "network",
    /Could not resolve (?:host|proxy)/i,
    "curl: (6) Could not resolve host: example.com",
    "curl, git",
  ],
  [
    "network",
    /\bEAI_AGAIN\b|getaddrinfo ENOTFOUND/i,
    "Error: getaddrinfo EAI_AGAIN packages.example.org",
    "Node: npm, yarn, pnpm",
  ],
  [
    "network",
    /Temporary failure in name resolution|Name or service not known/i,
    "socket.gaierror: [Errno -3] Temporary failure in name resolution",
    "the C library: Python, ssh, ping",
  ],
  [
    "network",
    /unable to resolve host address/i,
    "wget: unable to resolve host address 'example.com'",
    "wget",
  ],
  ["network", /dial tcp: lookup/i, "dial tcp: lookup example.com: no such host", "Go"],
  [
    "network",
    /failed to lookup address/i,
    "dns error: failed to lookup address information",
    "Rust: cargo, uv",
  ],
  [
    "socket",
    /\b(?:listen|connect|bind) EPERM\b/,
    "Error: listen EPERM: operation not permitted /tmp/tsx-0/32.pipe",
    "Node: tsx, nx, vite, language servers",
  ],
  [
    "socket",
    /could not create (?:any )?Unix(?: |-domain )socket/i,
    'LOG:  could not create Unix socket for address "/tmp/.s.PGSQL.5432": Operation not permitted',
    "PostgreSQL",
  ],
  [
    "socket",
    /connection to server on socket "[^"]+" failed: (?:Operation not permitted|No such file)/,
    'psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory',
    "psql and all that uses libpq",
  ],
  [
    "socket",
    /Can't (?:create UNIX socket|connect to local (?:MySQL|MariaDB|server|MySQL server) .*socket)/i,
    "ERROR 2002 (HY000): Can't connect to local MySQL server through socket '/run/mysqld/mysqld.sock' (2)",
    "MySQL and MariaDB",
  ],
  [
    "socket",
    /Cannot connect to the Docker daemon at unix:/,
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "docker",
  ],
  [
    "socket",
    /\bsocket\b[\s\S]{0,400}(?:Operation not permitted|\bEPERM\b)/i,
    "listen unix /project/.run/a.sock: socket: operation not permitted",
    "Go, Python, redis",
  ],
  [
    "socket",
    /daemon\b[^\n]*(?:Operation not permitted|os error 1\b)/i,
    "failed to connect to daemon: Operation not permitted (os error 1)",
    "Rust: turbo's daemon",
  ],
  [
    "socket",
    /(?:Operation not permitted|\bEPERM\b)[^\n]*\bsocket\b/i,
    "EPERM: operation not permitted, bind on the socket /project/a.sock",
    "any program",
  ],
  [
    "right",
    /Operation not permitted|\bEPERM\b|must be superuser|requires root/i,
    "chown: changing ownership of 'x': Operation not permitted",
    "any program",
  ],
];

/** The name of a host in the message of a failure. */
const HOST = /(?:resolve host:|ENOTFOUND|EAI_AGAIN|lookup) ([a-z\d][a-z\d-]*(?:\.[a-z\d-]+)+)/i;

/** The maximum number of characters of output that are examined. */
const MAX_CHARACTERS = 30_000;
const MISSING =
  /No such file|\bENOENT\b|does not (?:exist|appear)|doesn't exist|not found|cannot (?:find|open|stat)|can't (?:open|find)|not a git repository/i;

/** Says what the sandbox refused a command that has ended; null when nothing suggests that it did. */
export async function findRefusal(
  commands: MachineCommands,
  { run, request }: { readonly run: RunningCommand; readonly request: CommandRequest },
  hasFailed: boolean,
): Promise<string | null> {
  if (request.exception === "unlimited") return null;
  const { sandbox } = await commands.sandbox(request);
  if (sandbox === null) return null;
  const stray = (await run.strayPaths?.(request.command)) ?? [];
  const text = formatOutput(await run.output.soFar(), MAX_CHARACTERS);
  const isMissing = hasFailed && MISSING.test(text);
  const hidden = (isMissing && (await run.hiddenPaths?.(`${text}\n${request.command}`))) || [];
  const refusal = explainSandboxRefusal(text, {
    ...{ hasFailed, mode: sandbox.mode, hidden, roots: commands.roots },
    readOnly: request.readOnly ?? [],
    hasNetwork: commands.hasNetworkFor(request),
    reachesByName: commands.reachesByName ?? false,
  });
  if (stray.length === 0) return refusal;
  return [describeStrayPaths(stray, commands.roots), ...(refusal === null ? [] : [refusal])].join(" ");
}

/** Explains that the sandbox caused a failure, and what would allow the action. null if nothing suggests that. */
export function explainSandboxRefusal(text: string, refusalCase: RefusalCase): string | null {
  const { hidden = [] } = refusalCase;
  if (hidden.length > 0) return describeHidden(hidden);
  const fitting = REFUSALS.find(([kind, words]) => canBeRefusal(kind, refusalCase) && words.test(text));
  return fitting === undefined ? null : explainRefusal(fitting[0], text, refusalCase);
}

/** Whether the sandbox could have caused this kind of message. A refused write matters even if the command went on. */
function canBeRefusal(kind: RefusalKind, { hasFailed, hasNetwork }: RefusalCase): boolean {
  if (kind === "write" || kind === "cache") return true;
  return hasFailed && (kind === "right" || !hasNetwork);
}

function explainRefusal(
  kind: RefusalKind,
  output: string,
  { mode, reachesByName = false, roots, readOnly = [] }: RefusalCase,
): string {
  switch (kind) {
    case "cache":
      return `The sandbox refused a write to a cache: what is cached there already can only be read. ${describeException("unlimited", SETTINGS.off)}`;
    case "write": {
      const where =
        mode === "read-only"
          ? "it is read-only: only /tmp can be written"
          : [
              `only ${roots.join(", ")} and /tmp can be written, and there no protected files:`,
              "git's hooks and configuration, settings of Burin and of editors, .env, profiles",
            ].join(" ");
      const unkept = readOnly.length > 0 ? ` ${describeUnkept(readOnly)}` : "";
      return `The sandbox refused a write: ${where}.${unkept} ${describeException("unlimited", SETTINGS.off)}`;
    }
    case "network": {
      const [, host = "packages.example.org"] = HOST.exec(output) ?? [];
      const setting = reachesByName ? `"sandbox": { "network": ["${host}"] }` : SETTINGS.network;
      return `The sandbox has no network. ${describeException("network", setting)}`;
    }
    case "socket":
      // If hosts are reached by name, commands run in the session's own network, apart from others' sockets.
      return `The sandbox allows no Unix sockets except connected pairs. ${describeException(reachesByName ? "unlimited" : "network", SETTINGS.network)}`;
    case "right":
      return `The sandbox may be the cause: it gives no administrative rights. ${describeException("unlimited", SETTINGS.off)}`;
  }
}

const MAX_NAMED = 3;

function describeHidden(hidden: readonly string[]): string {
  const named = hidden.slice(0, MAX_NAMED);
  const temporary = /^(?:\/var)?\/tmp/.exec(hidden[0] ?? "")?.[0];
  const where = `${temporary} of its own, in which ${named.join(", ")} cannot be seen, though it exists`;
  const once = 'call again with "sandbox_exception": "unlimited": the user is asked';
  const always = `the user starts Burin with --include-directories ${named.join(",")}, or moves the project`;
  return `The sandbox has a ${where}. If the task needs it, ${once}. To allow it always, ${always}.`;
}

function describeUnkept(readOnly: readonly string[]): string {
  const named = readOnly.slice(0, MAX_NAMED).join(", ");
  const more = readOnly.length > MAX_NAMED ? ` and ${readOnly.length - MAX_NAMED} more` : "";
  return `A command that runs unasked cannot write what undo could not bring back: ${named}${more}.`;
}

function describeStrayPaths(stray: readonly string[], roots: readonly string[]): string {
  const named = stray.slice(0, MAX_NAMED);
  const temporary = /^(?:\/var)?\/tmp/.exec(stray[0] ?? "")?.[0];
  return [
    `The sandbox has a ${temporary} of its own: ${named.join(", ")} exists only there, for this session's commands.`,
    'If the task needs it beside the project, call again with "sandbox_exception": "unlimited": the user is asked.',
    `Otherwise only ${roots.join(", ")} can be written.`,
  ].join(" ");
}

/** The settings that permanently allow what an exception allows once. */
const SETTINGS = {
  network: '"sandbox": { "network": true }',
  off: '--sandbox off or "sandbox": { "mode": "off" }',
};

function describeException(exception: "network" | "unlimited", setting: string): string {
  return `If the task needs it, call again with "sandbox_exception": "${exception}": the user is asked. To allow it always: ${setting} in the user's settings.`;
}
