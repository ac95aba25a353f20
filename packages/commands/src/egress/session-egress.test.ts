import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";
import { openNetworkNamespace } from "./network-space.ts";
import type { HostAnswer, HostRequest } from "./session-egress.ts";

const FETCH = (url: string) => `curl -sS -m 20 -w '%{http_code}' ${url} 2>&1; true`;

describe("P53 the network of a session's commands", requirePrograms("bwrap", "curl"), () => {
  let room: SandboxFixture;
  let server: ReturnType<typeof createServer>;
  let place: string;
  const seen: string[] = [];
  const wishes: HostRequest[] = [];
  let allow: string[] = [];
  let answer: (wish: HostRequest) => Promise<HostAnswer> = async () => "no";

  beforeEach(async () => {
    room = new SandboxFixture();
    seen.length = 0;
    wishes.length = 0;
    server = createServer(({ headers, url }, response) => {
      seen.push(`${headers.host}${url}`);
      response.end("from outside ");
    });
    place = `packages.test:${await listenOnFreePort(server)}`;
    allow = [];
    room.open("workspace-write", false, {
      rules: async () => ({ allow, deny: ["denied.test"] }),
      resolve: async () => ["127.0.0.1"],
      ask: async (wish) => {
        wishes.push(wish);
        return answer(wish);
      },
    });
  });

  afterEach(async () => {
    await room.remove();
    server.close();
    server.closeAllConnections();
  });

  it("P53 a host that the settings allow is reached without a question, and nothing else is", async () => {
    allow = [place];
    const { text, run } = await room.run(FETCH(`http://${place}/a`));
    expect(text).toBe("from outside 200");
    expect(seen).toEqual([`${place}/a`]);
    const other = await room.run(FETCH("http://other.test/b"));
    expect(other.text).toContain("Commands may not reach other.test unasked.");
    expect(other.run.refusedHosts?.()).toEqual([expect.stringContaining('"network": ["other.test"]')]);
    expect(run.refusedHosts?.()).toEqual([]);
    expect(wishes).toEqual([]);
  });

  it("P53 a command with approved network asks for another host while it waits, once for all its connections", async () => {
    answer = async () => "no";
    const line = [1, 2].map(() => FETCH("http://other.test/")).join("; ");
    const { text, run } = await room.run(line, "network");
    expect(text).toContain("The user refused commands the host other.test.");
    expect(wishes).toEqual([{ host: "other.test", isPrivate: false, command: line }]);
    expect(run.refusedHosts?.()).toHaveLength(1);
    expect(await run.waitedMs?.()).toBeGreaterThanOrEqual(0);
  });

  it("P53 a yes is for that command; a lasting one changes the rules", async () => {
    allow = [place.replace("packages", "named")];
    answer = async () => "yes";
    const first = await room.run(FETCH("http://denied.test/"), "network");
    expect(first.text).toContain("The settings deny commands the host denied.test.");
    answer = async ({ isPrivate }) => (isPrivate ? "no" : "yes");
    const refused = await room.run(FETCH("http://other.test/"), "network");
    expect(refused.text).toContain("other.test:80 is on this machine or in a private network");
    answer = async () => "yes";
    const reached = await room.run(FETCH("http://other.test/"), "network");
    expect(reached.run.refusedHosts?.().join()).not.toContain("private network");
    // A name and where it leads are two questions.
    const both = ["other.test", "other.test:80"];
    expect(wishes.map(({ host }) => host)).toEqual([...both, ...both]);
  });

  it("P53 hosts that were allowed with the command need no other question", async () => {
    const { text } = await room.run(FETCH(`http://${place}/`), "network");
    expect(text).toContain("is on another port than 443 and 80");
    expect((await room.run(FETCH(`http://${place}/`), "network", [place])).text).toBe("from outside 200");
    expect(wishes).toEqual([]);
  });

  it("P53 nothing but the proxy can be reached, also past its variables", async () => {
    allow = [place];
    const { port } = server.address() as { port: number };
    const outer = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ internal, family }) => !internal && family === "IPv4");
    for (const host of ["127.0.0.1", "[::1]", outer?.address ?? "10.0.0.1"]) {
      const { text } = await room.run(FETCH(`--noproxy '*' http://${host}:${port}/`));
      expect(text).toMatch(/000$/);
    }
    expect((await room.run("cat /proc/net/dev | grep -vc -e lo: -e '|'")).text).toBe("0\n");
    expect(seen).toEqual([]);
  });

  it("P53 a command that ended takes its way to the network with it", async () => {
    allow = [place];
    const { text: proxy } = await room.run("echo $http_proxy");
    expect(proxy).toMatch(/^http:\/\/run_1:\w+@127\.0\.0\.1:\d+\n$/);
    const { text } = await room.run(`http_proxy=${proxy.trim()} ${FETCH(`http://${place}/`)}`);
    expect(text).toMatch(/407$/);
    expect(seen).toEqual([]);
  });

  it("P53 an ordinary user has such a network, too", async () => {
    const space = await openNetworkNamespace(process.env.PATH, false);
    space.listener.on("connection", (socket) => socket.end("from outside"));
    const [program = "", ...words] = [...space.enter, "bash", "-c", `cat < /dev/tcp/127.0.0.1/${space.port}`];
    expect((await promisify(execFile)(program, words)).stdout).toBe("from outside");
    space.close();
  });
});
