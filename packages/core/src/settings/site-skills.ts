import { filterRecords, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";

/** A skill that a site offers: its files by path. */
interface SiteSkill {
  readonly name: string;
  readonly files: ReadonlyMap<string, Buffer>;
}

interface SiteSkills {
  readonly skills: readonly SiteSkill[];
  /** Why some entries of the index are not used. */
  readonly left: readonly string[];
}

const INDEX = "/.well-known/agent-skills/index.json";
const SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const NAME = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
/** A path relative to the skill's folder. */
const PATH = /^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[ -"$->@-Z^-~]+$/;
const ARCHIVE = "archive";
/** The block size of a tar file. */
const BLOCK = 512;
const MAX_BYTES = 1024 * 1024;
const MAX_UNPACKED_BYTES = 16 * MAX_BYTES;
const MAX_FILES = 500;

/** Fetches the skills in a site's well-known index, or one of them. Each file must have the digest in the index. */
export async function fetchSiteSkills(site: URL, chosen?: string): Promise<SiteSkills> {
  const index = new URL(site.pathname === "/" ? INDEX : site.pathname, site);
  const [given = {}] = filterRecords([parseJson((await fetchBytes(index, index)).toString("utf8"))]);
  const { $schema, version, skills } = given;
  if (($schema ?? version) !== SCHEMA && !($schema === undefined && /^0\.2\.\d+$/.test(String(version))))
    throw new Error(`${index.href} is not an index of skills of version 0.2.0.`);
  const offers = filterRecords(skills);
  const names = offers.map(({ name }) => String(name));
  if (chosen !== undefined && !names.includes(chosen))
    throw new Error(`${site.host} has no skill "${chosen}": ${names.join(", ")}.`);
  const left: string[] = [];
  const found: SiteSkill[] = [];
  let count = 0;
  for (const offer of offers.filter(({ name }) => chosen === undefined || name === chosen)) {
    const files = listSkillFiles(offer, index);
    if (typeof files === "string") {
      left.push(`skill ${String(offer.name)}: ${files}`);
      continue;
    }
    count += files.length;
    if (count > MAX_FILES) throw new Error(`${site.host} offers more than ${MAX_FILES} files.`);
    let held = new Map<string, Buffer>();
    for (const { path, url, digest } of files) held.set(path, await fetchWithDigest(url, digest, index));
    if (offer.type === "archive") held = await unpackArchive(held.get(ARCHIVE) ?? Buffer.alloc(0));
    if (held.has("SKILL.md")) found.push({ name: String(offer.name), files: held });
    else left.push(`skill ${String(offer.name)}: it has no SKILL.md`);
  }
  return { skills: found, left };
}

function listSkillFiles({ name, type, url, digest, files }: JsonRecord, index: URL) {
  if (typeof name !== "string" || !NAME.test(name)) return "its name is not usable";
  const one = { "skill-md": "SKILL.md", archive: ARCHIVE }[String(type)];
  const listed = filterRecords(one === undefined ? files : [{ path: one, url, digest }]);
  if (listed.length === 0) return "its type is not known";
  if (one === undefined && !listed.some(({ path }) => path === "SKILL.md")) return "it has no SKILL.md";
  const usable = listed.flatMap(({ path, url: at = `${name}/${path}`, digest: print }) =>
    PATH.test(String(path)) &&
    URL.canParse(String(at), index.href) &&
    /^sha256:[0-9a-f]{64}$/.test(String(print))
      ? [{ path: String(path), url: new URL(String(at), index), digest: String(print) }]
      : [],
  );
  return usable.length === listed.length ? usable : "a path, an address or a digest in it is not usable";
}

/** Returns the files in a gzipped tar file. Throws for entries that are not files or folders, or lead outside. */
async function unpackArchive(packed: Buffer): Promise<Map<string, Buffer>> {
  const { gunzipSync } = await import("node:zlib");
  const bytes = gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const readHeaderField = (from: number, length: number) =>
      bytes.toString("utf8", at + from, at + from + length).split("\0", 1)[0] ?? "";
    const [name, kind, size] = [
      readHeaderField(0, 100),
      readHeaderField(156, 1),
      Number.parseInt(readHeaderField(124, 12), 8),
    ];
    if (name === "") break;
    const prefix = readHeaderField(257, 6) === "ustar" ? readHeaderField(345, 155) : "";
    const path = (prefix === "" ? name : `${prefix}/${name}`).replace(/^\.\//, "");
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    const isNote = /^[xg]$/.test(kind) && !content.includes("path=");
    if (kind === "" || kind === "0") {
      if (!PATH.test(path)) throw new Error(`the archive has a file "${path}".`);
      files.set(path, content);
    } else if (!isNote && kind !== "5")
      throw new Error(`"${path}" in the archive is neither file nor folder.`);
    if (!(size >= 0) || files.size > MAX_FILES) throw new Error("the archive is broken or too large.");
    at += BLOCK * (1 + Math.ceil(size / BLOCK));
  }
  return files;
}

async function fetchWithDigest(url: URL, digest: string, index: URL): Promise<Buffer> {
  // Loaded here, because it is not needed when the library is only imported.
  const { createHash } = await import("node:crypto");
  const bytes = await fetchBytes(url, index);
  if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` === digest) return bytes;
  throw new Error(`${url.href} is not what ${index.href} says that it is: its digest is another one.`);
}

/** Fetches a file. The site that the user named is allowed; other addresses are judged like any on the web. */
async function fetchBytes(url: URL, index: URL): Promise<Buffer> {
  const [{ fetchWeb }, { formatHostPort }] = await Promise.all([
    import("@burin/web/fetch-web"),
    import("@burin/net/guard-host"),
  ]);
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isHere))
    throw new Error(`${url.href} must be https.`);
  const guard = { named: [formatHostPort(index)] };
  const request = { url, accept: "*/*", guard, limits: { maxBytes: MAX_BYTES } };
  const { status, bytes, isCut, isBroken } = await fetchWeb(request, new AbortController().signal);
  if (status !== 200) throw new Error(`${url.href} answered ${status}.`);
  if (isBroken) throw new Error(`${url.href} broke off.`);
  if (isCut) throw new Error(`${url.href} is larger than ${MAX_BYTES / 1024 / 1024} MB.`);
  return bytes;
}
