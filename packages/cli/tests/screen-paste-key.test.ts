import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { ScreenRoom } from "./screen-room.ts";

/** No keychain of the machine is asked or written. */
const env = { BURIN_KEYCHAIN: "off" };
const room = new ScreenRoom({ "a.txt": "alpha\n" }, { columns: 100, rows: 34, env });
const KEY = "sk-ant-no-real-key-0123456789abcdef";

describe("a pasted key", () => {
  it("P19 is not shown, goes nowhere before its service is confirmed, and is kept when the user says so", async () => {
    await room.serve([{ text: "ok" }, { text: "Hello." }, { text: "Again." }]);
    const terminal = room.begin();
    await terminal.shows("Which model service?");
    await terminal.enter(KEY, "This is a key", "••••••");
    await terminal.enter("\r", "Whose key is this?", /› Anthropic +sent to api\.anthropic\.com/);
    expect(room.server.requests).toEqual([]);
    await terminal.enter("another\r", "Where is the service?");
    await terminal.enter(`${room.server.baseUrl}\r`, "› fake-model");
    await terminal.enter("\r", "The key works. Keep it for the next starts?");
    await terminal.enter("\r", "which only you can read", "What may run without asking?");
    await terminal.enter("\u001b", "? for keys");
    await terminal.enter("hello\r", "Hello.");
    expect(room.server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(terminal.all().join("\n")).not.toContain(KEY);
    const file = join(room.root, ".home/credentials/keys.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(join(room.root, ".home/settings.json"), "utf8")).not.toContain(KEY);

    const next = room.begin();
    await next.shows("fake-model · ");
    await next.enter("hello\r", "Again.");
    expect(room.server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);

    const home = { ...env, BURIN_HOME: join(room.root, ".home") };
    const { host } = new URL(room.server.baseUrl);
    const listed = await burin(["keys"], { cwd: room.root, env: home });
    expect(listed.stdout).toContain(host);
    expect(listed.stdout).not.toContain(KEY);
    expect((await burin(["keys", "remove", host], { cwd: room.root, env: home })).code).toBe(0);
    expect((await burin(["keys"], { cwd: room.root, env: home })).stdout).toContain("No key is kept");
    expect(await readFile(file, "utf8")).not.toContain(KEY);
  });

  it("P35 is asked for where the service refuses the one there is, and the prompt is sent again", async () => {
    const refused = JSON.stringify({
      error: { message: "Incorrect API key provided", code: "invalid_api_key" },
    });
    const terminal = await room.open(
      [
        {
          raw: (_request, response) => {
            response.writeHead(401, { "content-type": "application/json" });
            response.end(refused);
          },
        },
        { text: "Now I hear you." },
      ],
      { env: { ...env, OPENAI_API_KEY: "an-old-key" } },
    );
    await terminal.enter("hello\r", "Press enter to paste a key.", "? for keys");
    await terminal.enter("\r", "Paste a key for 127.0.0.1");
    await terminal.enter("a-new-key", "•••••••••");
    await terminal.enter("\r", "Now I hear you.", "? for keys");
    expect(room.server.requests.at(-1)?.headers.authorization).toBe("Bearer a-new-key");
    expect(terminal.all().join("\n").split("> hello").length).toBe(2);
    expect(terminal.all().join("\n")).toMatch(/export\s+OPENAI_API_KEY=…/);
  });
});
