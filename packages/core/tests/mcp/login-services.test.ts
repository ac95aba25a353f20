import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Toolbox } from "@burin/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GuardedServer, guardedServer } from "./guarded-server.ts";
import { project, useProject } from "./project.ts";

let guarded: GuardedServer;
let other: GuardedServer;

useProject();
beforeEach(async () => {
  [guarded, other] = await Promise.all([guardedServer(), guardedServer()]);
  for (const service of [guarded, other]) service.enter("by-hand", REDIRECT);
});

afterEach(async () => {
  await Promise.all([guarded.close(), other.close()]);
});

/** Below those that systems give to whoever asks for any. */
const PORT = 13_418;
const REDIRECT = `http://127.0.0.1:${PORT}/callback`;
const own = { clientId: "by-hand", clientSecret: "s3cret", callbackPort: PORT };

function open(more: object = {}, server: object = {}): Toolbox {
  const far = { url: guarded.url, oauth: { ...own, ...more }, ...server };
  return project.open({ far }, { approvalMode: "yolo" });
}

const shown: (string | undefined)[] = [];
/** Closes the toolbox: its own request for the list of tools, a little later, would refresh what the test has expired. */
async function logIn(toolbox: Toolbox): Promise<void> {
  shown.length = 0;
  const onAddress = (url: URL, secretGoesTo?: string) => {
    shown.push(secretGoesTo);
    void fetch(url);
  };
  try {
    await toolbox.mcp.login("far", { onAddress });
  } finally {
    await toolbox.close();
  }
}

describe("P51 a client secret goes to the login service that the user meant", () => {
  it("the first login says where it goes, and it goes nowhere else", async () => {
    await logIn(open());
    expect(shown).toEqual([guarded.loginService]);
    expect(guarded.secrets.length).toBeGreaterThan(0);
    expect(other.secrets).toEqual([]);
  });

  it("P24 a server that later names another service gets no secret there, neither by a login nor by a refresh", async () => {
    await logIn(open());
    const { loginService: first } = guarded;
    guarded.loginService = other.loginService;
    guarded.expire();
    const [failure] = await open().ready();
    expect(failure?.message).toContain(`wants the login at ${other.loginService}`);
    await expect(logIn(open())).rejects.toThrow(`its client secret was given for ${first}`);
    expect(shown).toEqual([]);
    expect([other.secrets, other.asked.filter((one) => one.startsWith("POST"))]).toEqual([[], []]);
    await logIn(open({ issuer: other.loginService }));
    expect(other.secrets).toContain("s3cret");
  });

  it("the settings name the service: another one is refused at once, also without a secret", async () => {
    guarded.loginService = other.loginService;
    for (const clientSecret of [own.clientSecret, undefined]) {
      const toolbox = open({ issuer: "https://login.example.org/", clientSecret });
      await expect(logIn(toolbox)).rejects.toThrow("https://login.example.org/. Nothing was sent there");
    }
    expect([other.secrets, other.asked.filter((one) => one.startsWith("POST"))]).toEqual([[], []]);
  });

  it("a refresh sends no secret to a service that no login has shown", async () => {
    await logIn(open({ clientSecret: undefined }));
    expect(shown).toEqual([undefined]);
    // As a login of an earlier version is stored.
    const [file = ""] = readdirSync(join(project.home, "credentials"));
    const path = join(project.home, "credentials", file);
    const known = JSON.parse(readFileSync(path, "utf8"));
    delete known.tokens.issuer;
    writeFileSync(path, JSON.stringify(known));
    guarded.expire();
    expect((await open().ready())[0]?.message).toContain("requires a login");
    expect(guarded.secrets).toEqual([]);
    expect(await open({ issuer: `${guarded.loginService}/` }).ready()).toEqual([]);
    expect(guarded.secrets).toContain("s3cret");
  });
});

describe("P51 P17 a login service that does not answer well ends the login", () => {
  it.each([
    ["never", 700, "did not answer the login within 700 ms"],
    ["endless", 60_000, "answered the login with more than 1048576 bytes"],
  ] as const)("%s", async (description, startTimeout, words) => {
    guarded.description = description;
    await expect(logIn(open({}, { startTimeout }))).rejects.toThrow(words);
  });

  it("neither does one that never answers a refresh hold up the calls that need it", async () => {
    await logIn(open());
    const toolbox = open({}, { startTimeout: 2000 });
    expect(await toolbox.ready()).toEqual([]);
    guarded.expire();
    guarded.description = "never";
    const { error } = await toolbox.call("far__echo", { text: "late" });
    expect(error?.message).toContain("did not answer the login within 2000 ms");
  });
});
