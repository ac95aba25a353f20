/** A host and port that a connection asks for, in the normalized spelling that rules are compared with. */
export interface HostEndpoint {
  /** Lower case, in ASCII, without a dot at the end; an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
}

/** Which hosts commands can reach. Deny beats allow. */
export interface HostRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** A pattern is `host`, `*.host`, either with `:port`, or `*`. */
interface HostPattern {
  readonly host: string;
  readonly isBelow: boolean;
  readonly port: number | null;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[^\s:@/\\?#%[\]]{1,255}):(\d{1,5})$/i;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}$/;
const ADDRESS = /^(?:\[.*\]|\d{1,3}(?:\.\d{1,3}){3})$/;
const MAX_PORT = 65_535;

/**
 * Parses `host:port`; null when the host is neither a name nor an address. Other spellings of an address become its
 * usual one.
 */
export function parseHostEndpoint(text: string): HostEndpoint | null {
  const [, written = "", digits = ""] = AUTHORITY.exec(text) ?? [];
  const port = Number(digits);
  if (port < 1 || port > MAX_PORT) return null;
  const url = `http://${written}/`;
  if (!URL.canParse(url)) return null;
  const host = new URL(url).hostname.replace(/\.$/, "");
  if (ADDRESS.test(host)) return { host: host.replace(/^\[|\]$/g, ""), port, isAddress: true };
  const isName = host.length <= 253 && host.split(".").every((label) => LABEL.test(label));
  return isName ? { host, port, isAddress: false } : null;
}

/** Formats `host:port` as users write it, with an IPv6 address in brackets. */
export function formatHostEndpoint({ host, port }: Pick<HostEndpoint, "host" | "port">): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Ports that a pattern without a port covers. */
const COMMON_PORTS: ReadonlySet<number> = new Set([80, 443]);

/** Compares whole labels: `*.github.com` is neither `github.com` nor `evilgithub.com`. */
function matchesHost(pattern: string, place: HostEndpoint): boolean {
  if (pattern.trim() === "*") return COMMON_PORTS.has(place.port) && !place.isAddress;
  const read = parseHostPattern(pattern);
  if (read === null) return false;
  if (read.port === null ? !COMMON_PORTS.has(place.port) || place.isAddress : read.port !== place.port)
    return false;
  return read.isBelow ? !place.isAddress && place.host.endsWith(`.${read.host}`) : place.host === read.host;
}

/** Judges a host by the rules: "ask" if no rule names it. */
export function judgeHost(place: HostEndpoint, { allow, deny }: HostRules): "allow" | "deny" | "ask" {
  // A deny rule applies to every port.
  const isDenied = deny.some((pattern) => deniesHost(pattern, place));
  if (isDenied) return "deny";
  return allow.some((pattern) => matchesHost(pattern, place)) ? "allow" : "ask";
}

function deniesHost(pattern: string, place: HostEndpoint): boolean {
  if (pattern.trim() === "*") return true;
  const read = parseHostPattern(pattern);
  if (read === null || (read.port !== null && read.port !== place.port)) return false;
  return place.host === read.host ? !read.isBelow : read.isBelow && place.host.endsWith(`.${read.host}`);
}

/**
 * Lists the places that rules name together with a port: only these may be on this machine, in a private network or on
 * an unusual port.
 */
export function listExplicitEndpoints(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const read = parseHostPattern(pattern);
    return read === null || read.port === null || read.isBelow
      ? []
      : [formatHostEndpoint({ host: read.host, port: read.port })];
  });
}

function parseHostPattern(text: string): HostPattern | null {
  const trimmed = text.trim();
  const isBelow = trimmed.startsWith("*.");
  const written = isBelow ? trimmed.slice(2) : trimmed;
  const hasPort = /:\d+$/.test(written) && (written.startsWith("[") ? written.includes("]:") : true);
  const isBareAddress = !hasPort && written.includes(":") && !written.startsWith("[");
  const place = parseHostEndpoint(hasPort ? written : `${isBareAddress ? `[${written}]` : written}:443`);
  if (place === null || (isBelow && place.isAddress)) return null;
  return { host: place.host, isBelow, port: hasPort ? place.port : null };
}

function isIpAddress(host: string): boolean {
  return host.includes(":") || ADDRESS.test(host);
}

/** Anyone can register a name below these suffixes; suffixes of one label need no row. */
const SHARED_SUFFIXES: ReadonlySet<string> = new Set(
  `ac.uk co.uk gov.uk ltd.uk me.uk net.uk org.uk plc.uk co.jp ne.jp or.jp ac.jp go.jp com.au net.au org.au com.br
  net.br org.br com.cn net.cn org.cn com.hk com.mx com.sg com.tr com.tw com.ua co.in net.in org.in co.kr or.kr co.nz
  net.nz org.nz co.za com.ar co.il com.pl net.pl github.io gitlab.io pages.dev workers.dev netlify.app vercel.app
  herokuapp.com appspot.com web.app firebaseapp.com azurewebsites.net cloudfront.net amazonaws.com s3.amazonaws.com
  googleusercontent.com storage.googleapis.com blob.core.windows.net cloudapp.net ngrok.io ngrok.app trycloudflare.com
  glitch.me surge.sh fly.dev onrender.com deno.dev repl.co r2.dev`.split(/\s+/),
);

/** Returns what is wrong with a pattern, or null. */
export function findHostPatternFault(pattern: string): string | null {
  if (pattern.trim() === "*") return null;
  const read = parseHostPattern(pattern);
  if (read !== null && (read.port !== null || !isIpAddress(read.host))) return null;
  return `"${pattern}" is not a host: write a name such as packages.example.org, *.example.org for all names below it, or host:port`;
}

/** Warns of what a pattern allows beyond what its author probably meant; or null. */
export function findHostPatternWarning(pattern: string): string | null {
  if (pattern.trim() === "*") return `"*" lets commands reach, and upload to, every host of the internet`;
  const read = parseHostPattern(pattern);
  if (read?.isBelow !== true) return null;
  if (read.host.includes(".") && !SHARED_SUFFIXES.has(read.host)) return null;
  return `"${pattern}" lets commands reach, and upload to, names that anyone can register below ${read.host}`;
}
