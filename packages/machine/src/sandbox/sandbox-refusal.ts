const REFUSED_WRITE = /Read-only file system|\bEROFS\b|Device or resource busy/;
const REFUSED_NETWORK =
  /Network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|Temporary failure in name resolution|Could not resolve (?:host|proxy)|Name or service not known|getaddrinfo ENOTFOUND|unable to resolve host address|dial tcp: lookup|failed to lookup address/i;
const REFUSED_RIGHT = /Operation not permitted|\bEPERM\b|must be superuser|requires root/i;
const OF_SOCKETS = /\bsocket\b|\b(?:listen|connect|bind) EPERM\b/i;

/** What is known of the command that the text comes from. */
export interface RefusalCase {
  readonly hasFailed: boolean;
  readonly mode: "read-only" | "workspace-write";
  readonly hasNetwork: boolean;
  readonly roots: readonly string[];
}

/** Says that a failure is the sandbox's doing, and what would allow it; null when nothing points to it. */
export function sandboxRefusal(text: string, refusalCase: RefusalCase): string | null {
  const { hasFailed, mode, hasNetwork, roots } = refusalCase;
  if (REFUSED_WRITE.test(text)) {
    const where =
      mode === "read-only"
        ? "it is read-only: only /tmp can be written"
        : `only ${roots.join(", ")} and /tmp can be written, and there no protected files: git's hooks and configuration, settings of Burin and of editors, .env, profiles`;
    return `The sandbox refused a write: ${where}. ${allowedBy("unlimited", '--sandbox off or "sandbox": { "mode": "off" }')}`;
  }
  if (!hasFailed) return null;
  if (!hasNetwork && REFUSED_NETWORK.test(text)) {
    return `The sandbox has no network. ${allowedBy("network", '"sandbox": { "network": true }')}`;
  }
  if (!hasNetwork && REFUSED_RIGHT.test(text) && OF_SOCKETS.test(text)) {
    return `The sandbox has no Unix sockets but pairs of connected ones. ${allowedBy("network", '"sandbox": { "network": true }')}`;
  }
  if (REFUSED_RIGHT.test(text)) {
    return `This may be the sandbox: it gives no rights over the system. ${allowedBy("unlimited", '--sandbox off or "sandbox": { "mode": "off" }')}`;
  }
  return null;
}

function allowedBy(exception: string, setting: string): string {
  return `If the task needs it, call again with "sandbox_exception": "${exception}": the person is asked. For good: ${setting} in the person's settings.`;
}
