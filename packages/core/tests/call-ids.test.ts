import { join } from "node:path";
import { createSession, type SessionOptions, type SettingsInput } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let root: string;
let home: string;
const servers: FakeModelServer[] = [];

beforeEach(() => {
  root = createTemporaryFolder();
  home = join(root, ".home");
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(replies: readonly FakeReply[], playing?: "mistral"): Promise<FakeModelServer> {
  const server = await startFakeModelServer(replies, playing ? { service: playing } : {});
  servers.push(server);
  return server;
}

async function run(settings: SettingsInput, more: Partial<SessionOptions> = {}): Promise<string> {
  const environment = { ...process.env, BURIN_HOME: home };
  const session = createSession({ root, settings, environment, record: true, ...more });
  for await (const event of session.run("go")) {
    if (event.type === "done") expect(event).toMatchObject({ status: "success", result: "done" });
  }
  await session.close();
  return session.id;
}

/** The id of the call in the last request, which the service checks to be nine letters or digits. */
function idIn({ requests }: FakeModelServer): string {
  const sent = JSON.stringify(requests.at(-1)?.body.messages);
  const made = /"tool_calls":\[\{"id":"(\w+)"/.exec(sent)?.[1] ?? "none";
  expect(sent).toContain(`"tool_call_id":"${made}"`);
  return made;
}

const LIST = { calls: [{ name: "list_directory", args: { path: "." } }] };

describe("P16 the ids of calls that another model made", () => {
  it("are those that the service of a fallback takes", async () => {
    const first = await serve([LIST, { error: { status: 401, message: "no" } }]);
    const mistral = await serve([{ text: "done" }], "mistral");
    const fallbacks = [{ name: "other", baseUrl: mistral.baseUrl }];
    await run({ model: { name: "m", baseUrl: first.baseUrl, retries: 0, fallbacks } });
    expect(idIn(first)).toBe("call_1");
    expect(idIn(mistral)).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(mistral.problems).toEqual([]);
  });

  it("are those that the service takes with which a session is resumed", async () => {
    const first = await serve([LIST, { text: "done" }]);
    const id = await run({ model: { name: "m", baseUrl: first.baseUrl } });
    const mistral = await serve([LIST, { text: "done" }, { text: "done" }], "mistral");
    const model = { name: "other", baseUrl: mistral.baseUrl };
    await run({ model }, { resume: await resumeSession({ home, root, id }) });
    expect(idIn(first)).toBe("call_1");
    const wire = idIn(mistral);
    expect(wire).toMatch(/^[A-Za-z0-9]{9}$/);
    await run({ model }, { resume: await resumeSession({ home, root, id }) });
    expect(idIn(mistral)).toBe(wire);
    expect(mistral.problems).toEqual([]);
  });
});
