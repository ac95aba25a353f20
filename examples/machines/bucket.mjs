// Tools on the objects of a bucket (S3 and what speaks like it): node bucket.mjs http://127.0.0.1:9000/bucket / CALL...
import { fileURLToPath } from "node:url";
import { runCalls } from "./run-calls.mjs";

/** @param {string} text */
const unescaped = (text) =>
  text.replace(/&(lt|gt|quot|apos|amp);/g, (_, /** @type {keyof typeof MARKS} */ name) => MARKS[name]);
const MARKS = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** @param {string} xml @param {string} tag */
const textsIn = (xml, tag) =>
  [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, "g"))].map(([, text = ""]) => unescaped(text));

/**
 * Objects have keys and no folders: a folder is there as long as a key begins with it. `send` is where requests are
 * signed: `new AwsClient({ ... }).fetch` of aws4fetch fits.
 * @param {string} bucket the address of the bucket
 * @param {(url: string, init?: RequestInit) => Promise<Response>} send
 * @returns {import("@burin/core/machine").MachineFunctions}
 */
export function bucketFunctions(bucket, send = fetch) {
  const base = bucket.replace(/\/$/, "");
  /** @param {string} path */
  const objectAt = (path) => base + path.split("/").map(encodeURIComponent).join("/");
  /** @param {string} path @param {RequestInit} [init] */
  const ask = async (path, init) => {
    const response = await send(objectAt(path), init);
    if (response.status === 404) throw Object.assign(new Error(`${path} does not exist`), { code: "ENOENT" });
    if (!response.ok) throw new Error(`the bucket answered ${response.status} ${response.statusText}`);
    return response;
  };
  /** @param {string} folder @param {Record<string, string>} [more] */
  const list = async (folder, more = {}) => {
    const prefix = folder === "/" ? "" : `${folder.slice(1)}/`;
    const query = new URLSearchParams({ "list-type": "2", delimiter: "/", prefix, ...more });
    const response = await send(`${base}?${query}`);
    if (!response.ok) throw new Error(`the bucket answered ${response.status} ${response.statusText}`);
    const xml = await response.text();
    const names = (/** @type {string[]} */ keys) =>
      keys.filter((key) => key !== prefix).map((key) => key.slice(prefix.length).replace(/\/$/, ""));
    return {
      // The answer names the prefix that was asked for, too.
      folders: names(textsIn(xml, "Prefix")),
      files: names(textsIn(xml, "Key")),
      next: textsIn(xml, "NextContinuationToken")[0],
    };
  };
  return {
    readFile: async (path) => new Uint8Array(await (await ask(path)).arrayBuffer()),
    writeFile: async (path, content) => {
      await ask(path, { method: "PUT", body: new Uint8Array(content) });
    },
    stat: async (path) => {
      try {
        const { headers } = await ask(path, { method: "HEAD" });
        const mtimeMs = Date.parse(headers.get("last-modified") ?? "");
        return { isDirectory: false, size: Number(headers.get("content-length")), mtimeMs };
      } catch (error) {
        if (!(error instanceof Error && "code" in error)) throw error;
        const { files, folders } = await list(path, { "max-keys": "1" });
        return path === "/" || files.length + folders.length > 0 ? { isDirectory: true } : null;
      }
    },
    readdir: async (folder) => {
      const entries = [];
      for (let next = ""; ; ) {
        const page = await list(folder, next === "" ? {} : { "continuation-token": next });
        entries.push(...page.folders.map((name) => ({ name, isDirectory: true })));
        entries.push(...page.files.map((name) => ({ name, isDirectory: false })));
        if (page.next === undefined) return entries;
        next = page.next;
      }
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , bucket = "", root = "/", ...calls] = process.argv;
  await runCalls(bucketFunctions(bucket), root, calls);
}
