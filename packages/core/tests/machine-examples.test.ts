import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const closing: (() => unknown)[] = [];
let folder: string;

/** The examples as somebody has copied them, beside the built library. */
beforeEach(() => {
  folder = realpathSync(createTemporaryFolder());
  mkdirSync(join(folder, "node_modules/@burin"), { recursive: true });
  symlinkSync(join(repository, "packages/core"), join(folder, "node_modules/@burin/core"));
  cpSync(join(repository, "examples/machines"), folder, { recursive: true });
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Answer {
  readonly status: string;
  readonly llmContent: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly type: string };
}

/** Runs calls by an example, in the order of the list. */
async function run(program: string, place: readonly string[], calls: readonly (readonly [string, object])[]) {
  const lines = calls.map(([name, args]) => JSON.stringify({ name, args }));
  const env = {
    ...process.env,
    BURIN_HOME: join(folder, ".home"),
    PATH: `${folder}/bin:${process.env.PATH}`,
  };
  const options = { cwd: folder, env };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...place, ...lines], options);
  return stdout
    .trim()
    .split("\n")
    .map((line): Answer => JSON.parse(line));
}

/** A service that keeps objects by their keys and lists them as S3 does, two at a time. */
async function startBucket(objects: Map<string, Buffer>): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://local");
    const key = decodeURIComponent(pathname.replace(/^\/bucket\/?/, ""));
    if (searchParams.get("list-type") === "2")
      return response.end(formatListing([...objects.keys()], searchParams));
    if (request.method === "PUT") {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      objects.set(key, Buffer.concat(pieces));
      return response.end();
    }
    const found = objects.get(key);
    if (found === undefined) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-length": found.length,
      "last-modified": new Date(1_700_000_000_000).toUTCString(),
    });
    return response.end(request.method === "HEAD" ? undefined : found);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket`;
}

function formatListing(keys: readonly string[], query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const below = keys.filter((key) => key.startsWith(prefix)).sort();
  const rows = below.map((key) => {
    const rest = key.slice(prefix.length);
    return rest.includes("/") ? `P${prefix}${rest.slice(0, rest.indexOf("/") + 1)}` : `K${key}`;
  });
  const all = [...new Set(rows)];
  const from = Number(query.get("continuation-token") ?? 0);
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const page = all.slice(from, from + 2).map((row) => {
    const text = escaped(row.slice(1));
    return row.startsWith("P")
      ? `<CommonPrefixes><Prefix>${text}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${text}</Key></Contents>`;
  });
  const next = from + 2 < all.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : "";
  return `<ListBucketResult><Prefix>${escaped(prefix)}</Prefix>${page.join("")}${next}</ListBucketResult>`;
}

describe("the machine of a bucket", () => {
  it("R48 finds, searches, reads and changes objects, over pages of names and odd keys", async () => {
    const objects = new Map(
      ["src/a.txt", "src/b & c.txt", "src/deep/d.txt", "e.txt", "f.txt"].map((key) => [
        key,
        Buffer.from(`needle ${key}\n`),
      ]),
    );
    const url = await startBucket(objects);
    const [listing, found, read, edited, written, missing] = await run(
      "bucket.mjs",
      [url, "/"],
      [
        ["list_directory", { path: "/src" }],
        ["search_file_content", { pattern: "needle" }],
        ["read_file", { absolute_path: "/src/b & c.txt" }],
        ["edit", { file_path: "/src/b & c.txt", old_string: "needle", new_string: "thread" }],
        ["write_file", { file_path: "/new/g.txt", content: "new\n" }],
        ["read_file", { absolute_path: "/src/none.txt" }],
      ],
    );
    expect(listing?.llmContent).toMatch(/deep[\s\S]*a\.txt[\s\S]*b & c\.txt/);
    expect(found?.data).toMatchObject({ hits: 5 });
    expect(read?.llmContent).toBe("needle src/b & c.txt\n");
    expect([edited?.status, written?.status]).toEqual(["success", "success"]);
    expect(missing?.error?.type).toBe("not_found");
    expect(objects.get("src/b & c.txt")?.toString()).toBe("thread src/b & c.txt\n");
    expect(objects.get("new/g.txt")?.toString()).toBe("new\n");
  });
});

/** Stands for the program that leads to another computer; what comes behind it runs here, by a real shell. */
function makeProgram(name: string, script: string): void {
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bin", name), 0o755);
}

const DOCKER = '[ "$1 $2 $3" = "exec -i box" ] || exit 64; shift 3; exec "$@"';
const SSH = `while :; do case "$1" in -o) shift 2;; --) shift; break;; -*) shift;; *) break;; esac; done
[ "$1" = me@far ] || exit 64; shift; exec sh -c "$*"`;

describe.each([
  { program: "container.mjs", tool: "docker", script: DOCKER, name: "box" },
  { program: "ssh.mjs", tool: "ssh", script: SSH, name: "me@far" },
])("the machine of $program", ({ program, tool, script, name }) => {
  it("R48 R41 works on files with odd names and runs commands, and ends them", async () => {
    makeProgram(tool, script);
    const root = join(folder, "far side");
    mkdirSync(root);
    writeFileSync(join(root, "it's $HOME.txt"), "needle 'one'\n");
    symlinkSync("/etc/hostname", join(root, "out"));
    const answers = await run(
      program,
      [name, root],
      [
        ["search_file_content", { pattern: "needle" }],
        ["edit", { file_path: join(root, "it's $HOME.txt"), old_string: "'one'", new_string: '"two" `x`' }],
        ["write_file", { file_path: join(root, "new folder/-b.txt"), content: "b\n" }],
        ["read_file", { absolute_path: join(root, "out") }],
        ["run_shell_command", { command: "echo 'a  b'; cat 'new folder/-b.txt'; exit 5" }],
        ["run_shell_command", { command: "sleep 61.25 & echo begun; sleep 61.25", timeout: 2000 }],
        ["list_directory", { path: "." }],
      ],
    );
    const [found, edited, written, outside, ran, late, listing] = answers;
    expect(found?.data).toMatchObject({ hits: 1 });
    expect([edited?.status, written?.status]).toEqual(["success", "success"]);
    expect(readFileSync(join(root, "it's $HOME.txt"), "utf8")).toBe('needle "two" `x`\n');
    expect(readFileSync(join(root, "new folder/-b.txt"), "utf8")).toBe("b\n");
    expect(outside?.error?.type).toBe("outside_root");
    expect(ran?.llmContent).toContain("a  b\nb\n");
    expect(ran?.data).toMatchObject({ exitCode: 5 });
    expect(late?.error?.type).toBe("timeout");
    expect(late?.llmContent).toContain("begun");
    expect(listing?.llmContent).toContain("new folder");
    // Whatever the command has started is gone there, too.
    for (let tries = 0; tries < 100 && processes().includes("sleep 61.25"); tries += 1) await pause(100);
    expect(processes()).not.toContain("sleep 61.25");
  });
});

function processes(): string {
  return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
}
