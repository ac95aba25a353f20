import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SettingsInput } from "@burin/contract/settings/settings";
import type { Confirmation, Decision } from "@burin/contract/tools";
import { createToolbox } from "@burin/core";
import { openGrants } from "@burin/core/internal";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let base: string;
let server: Server;
let place: string;
let asked: Confirmation[];
let toolbox: ReturnType<typeof createToolbox>;

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "burin-network-")));
  mkdirSync(join(base, "project"));
  server = createServer((_request, response) => response.end("from outside"));
  place = `127.0.0.1:${await listenOnFreePort(server)}`;
  asked = [];
});

afterEach(async () => {
  await toolbox.close();
  server.close();
  server.closeAllConnections();
  await rm(base, { recursive: true });
});

type Answer = (question: Confirmation) => Decision;

async function open(settings: SettingsInput, answer: Answer | null): Promise<void> {
  const confirm = async (question: Confirmation) => {
    asked.push(question);
    return answer?.(question) ?? null;
  };
  const permissions = answer === null ? { permissions: { allow: ["run_shell_command"] } } : {};
  toolbox = createToolbox({
    root: join(base, "project"),
    settings: { ...permissions, ...settings },
    environment: { ...process.env, BURIN_HOME: join(base, "home") },
    ...(answer === null ? {} : { confirm }),
  });
}

const GET = (url: string) => `curl -sS --noproxy '' -m 20 ${url}; true`;

async function run(command: string, exception?: "network") {
  const args = { command, ...(exception === undefined ? {} : { sandbox_exception: exception }) };
  const { llmContent, returnDisplay } = await toolbox.call("run_shell_command", args);
  return { text: String(llmContent), shown: String(returnDisplay) };
}

/** The host is not among its words. */
const GET_HIDDEN = (host: string) => `echo ${host} > h; curl -sS -m 20 "http://$(cat h)/"; true`;

const hostQuestions = () => asked.filter(({ kind }) => kind === "info").map(({ title }) => title);

describe("P53 the network of commands by name", requirePrograms("bwrap", "curl"), () => {
  it("P53 settings name the hosts, in both forms", async () => {
    await open({ sandbox: { network: [place] } }, null);
    expect((await run(GET(`http://${place}/`))).text).toContain("from outside");
    await toolbox.close();
    await open({ sandbox: { network: { allowedDomains: [place], deniedDomains: ["127.0.0.1"] } } }, null);
    expect((await run(GET(`http://${place}/`))).text).toContain(
      "The settings deny commands the host 127.0.0.1",
    );
  });

  it("P53 another host asks while the command waits, and a no is named in the answer and on the screen", async () => {
    await open({}, ({ kind }) => (kind === "info" ? { outcome: "cancel" } : { outcome: "once" }));
    const { text, shown } = await run(GET_HIDDEN("other.test"), "network");
    expect(hostQuestions()).toEqual([
      expect.stringMatching(/^`echo other.* wants to reach other\.test\. Allow it\?$/),
    ]);
    const line =
      'The sandbox refused a connection: The user refused commands the host other.test. To allow it always: "sandbox": {"network": ["other.test"]}';
    expect(text).toContain(line);
    expect(shown).toContain(line);
  });

  it("P53 nobody to ask: the host is refused at once", async () => {
    await open({}, null);
    const { text } = await run(GET("http://other.test/"), "network");
    expect(text).toContain("Commands may not reach other.test unasked.");
  });

  it("P53 an always for a host is a grant, which the next command has", async () => {
    await open({}, ({ kind }) =>
      kind === "info" ? { outcome: "always", scope: "project" } : { outcome: "once" },
    );
    for (const _again of [1, 2]) await run(GET_HIDDEN("does-not-exist.invalid"), "network");
    expect(hostQuestions()).toHaveLength(1);
    expect(asked.find(({ kind }) => kind === "info")).toMatchObject({
      grants: ["run_shell_command(network:does-not-exist.invalid)"],
      prompt: expect.stringContaining("send your files to"),
    });
  });

  it("P53 a yes to a command that says where it goes includes that host", async () => {
    await open({}, () => ({ outcome: "once" }));
    await run("curl -sS -m 20 http://does-not-exist.invalid/a");
    expect(asked.map(({ kind }) => kind)).toEqual(["exec"]);
    expect(asked[0]).toMatchObject({ hosts: ["does-not-exist.invalid"] });
    expect(asked[0]?.title).toContain("It may reach does-not-exist.invalid, and also send files there");
  });

  it("P53 a yes that withholds the network lets the command run without it", async () => {
    await open({}, () => ({ outcome: "once", network: false }));
    const { text } = await run("echo it ran; curl -sS -m 20 http://does-not-exist.invalid/a");
    expect(asked[0]).toMatchObject({ limits: { writes: "project", network: "hosts", needsNetwork: true } });
    expect(asked).toHaveLength(1);
    expect(text).toContain("it ran");
    expect(text).not.toContain('The host "does-not-exist.invalid" does not exist');
    expect(text).toContain("The sandbox has no network.");
  });

  it("P53 a command that can use no proxy reaches the network only when the yes says so", async () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const probe = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached'`;
    const command = `${probe}; ssh -o ConnectTimeout=1 -o BatchMode=yes nobody@does-not-exist.invalid true`;
    await open({}, () => ({ outcome: "once" }));
    expect((await run(command)).text).not.toContain("reached");
    expect(asked[0]).toMatchObject({ limits: { network: "offered", needsNetwork: true } });
    await toolbox.close();
    await open({}, () => ({ outcome: "once", network: true }));
    expect((await run(command)).text).toContain("reached");
  });

  it("P53 a package manager's yes includes the host that its own settings name", async () => {
    writeFileSync(join(base, "project/.npmrc"), "registry=http://packages.invalid/\n");
    await open({}, () => ({ outcome: "once" }));
    const { text } = await run("npm install nothing --fetch-retries=0 --no-audit --no-fund");
    expect(asked.map((one) => ("hosts" in one ? one.hosts : one.title))).toEqual([["packages.invalid"]]);
    expect(text).toContain('The host "packages.invalid" does not exist');
  });

  it("P53 an always for a command that names hosts stores them in its scope, and the next one asks nothing", async () => {
    await open({}, ({ kind }) =>
      kind === "exec" ? { outcome: "always", scope: "project" } : { outcome: "cancel" },
    );
    const command = "curl -sS -m 20 -d x=1 http://does-not-exist.invalid/a";
    const host = "run_shell_command(network:does-not-exist.invalid)";
    await run(command);
    expect((await run(command)).text).toContain('The host "does-not-exist.invalid" does not exist');
    expect(asked.map(({ kind }) => kind)).toEqual(["exec"]);
    expect(asked[0]?.grants).toContain(host);
    const grants = await openGrants(join(base, "home"));
    const stored = (await grants.readItems()).map(({ rule, project }) => [rule, project]);
    expect(stored).toContainEqual([host, join(base, "project")]);
    await grants.revoke(({ rule }) => rule === host);
    expect((await run(command)).text).toContain("The user refused commands the host does-not-exist.invalid");
  });

  it("P53 an always stores the hosts whatever its width, and for the session only if that was chosen", async () => {
    writeFileSync(join(base, "project/.npmrc"), "registry=http://does-not-exist.invalid/\n");
    await open({}, () => ({ outcome: "always", scope: "session", width: "exact" }));
    for (const _again of [1, 2]) await run("npm ci");
    expect(asked).toHaveLength(1);
    const host = "run_shell_command(network:does-not-exist.invalid)";
    expect(asked[0]?.widths).toEqual({
      exact: ["run_shell_command(npm ci;)", host],
      wide: ["run_shell_command(npm ci *)", host],
    });
    expect(await (await openGrants(join(base, "home"))).readItems()).toEqual([]);
  });

  it("P53 what cannot use a proxy asks for the whole network, and says what that means", async () => {
    await open({}, () => ({ outcome: "cancel" }));
    await run("ssh user@host.invalid", "network");
    expect(asked[0]?.title).toContain("the whole network of this machine, because it cannot use a proxy");
  });
});
