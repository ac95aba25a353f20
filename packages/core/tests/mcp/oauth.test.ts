import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import type { Toolbox, ToolResult } from "@burin/core";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GuardedServer, guardedServer } from "./guarded-server.ts";
import { project, useProject } from "./project.ts";

let guarded: GuardedServer;

useProject();
beforeEach(async () => {
  guarded = await guardedServer();
});

afterEach(async () => {
  await guarded.close();
});

const textOf = ({ llmContent }: ToolResult) => JSON.stringify(llmContent);
const open = () => project.open({ far: { url: guarded.url } }, { approvalMode: "yolo" });
const echo = (toolbox: Toolbox, text: string) => toolbox.call("far__echo", { text });
const refreshes = () => guarded.asked.filter((one) => one === "POST /token refresh_token").length;

/** What a browser does: it goes where it is sent, and comes back to this machine. */
async function browse(url: URL): Promise<void> {
  await fetch(url);
}

async function logIn(toolbox: Toolbox): Promise<void> {
  expect(await toolbox.mcp.login("far", { onAddress: (url) => void browse(url) })).toBe("logged_in");
}

function stored(): string {
  const folder = join(project.home, "credentials");
  const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return join(folder, file);
}

describe("P51 logins to MCP servers", () => {
  it("without one the server is reported with the way to log in", async () => {
    const [failure] = await open().ready();
    expect(failure?.message).toContain("burin mcp login far");
  });

  it("discovery, registration, PKCE and the way back by loopback; the running session sees the login", async () => {
    const running = open();
    await running.ready();
    await logIn(open());
    expect(textOf(await echo(running, "seen"))).toContain("seen");
    expect(guarded.asked).toContain("POST /register");
    expect(statSync(stored()).mode & 0o777).toBe(0o600);
    // Another name would lose the logins of those who update.
    expect(basename(stored())).toMatch(/^mcp-[0-9a-f]{16}\.json$/);
  });

  it("by a pasted address, where the browser is on another machine", async () => {
    let paste: (text: string) => void = () => {};
    const pasted = new Promise<string>((resolve) => {
      paste = resolve;
    });
    const onAddress = async (url: URL) => {
      const answer = await fetch(url, { redirect: "manual" });
      paste(` ${answer.headers.get("location")}\n`);
    };
    const toolbox = open();
    expect(await toolbox.mcp.login("far", { onAddress: (url) => void onAddress(url), pasted })).toBe(
      "logged_in",
    );
    await toolbox.refreshTools();
    expect(textOf(await echo(toolbox, "pasted"))).toContain("pasted");
  });

  it.each(["refused", "absent"] as const)(
    "a service that registers no programs (%s) is told with all that is to be done, and that works",
    async (registration) => {
      guarded.registration = registration;
      const onAddress = (url: URL) => void browse(url);
      const failure = await open()
        .mcp.login("far", { onAddress })
        .catch((error: unknown) => String(error));
      expect(failure).toContain(
        "Register an OAuth client there by hand, with the redirect URL http://127.0.0.1:",
      );
      const [, redirect = ""] = /redirect URL (\S+)\. Then/.exec(failure) ?? [];
      const [, shown = "{}"] = /"oauth": (\{.*?\})/.exec(failure) ?? [];
      const oauth = { ...JSON.parse(shown), clientId: "by-hand" };
      guarded.enter("by-hand", redirect);
      const toolbox = project.open({ far: { url: guarded.url, oauth } }, { approvalMode: "yolo" });
      expect(await toolbox.mcp.login("far", { onAddress })).toBe("logged_in");
      expect(textOf(await echo(toolbox, "in"))).toContain("in");
    },
  );

  it.each(["http://169.254.169.254/latest", "http://10.1.2.3:8080/admin", "http://[::ffff:127.0.0.1]:9/"])(
    "P51 P37 a server on the internet cannot have this machine ask its inner network: %s",
    async (inner) => {
      const asked: string[] = [];
      const proxy = createServer(({ method, url }, response) => {
        asked.push(`${method} ${url}`);
        response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${inner}"` }).end();
      });
      const HTTP_PROXY = `http://127.0.0.1:${await listenOnFreePort(proxy)}`;
      const environment = { ...project.environment, http_proxy: HTTP_PROXY, no_proxy: "" };
      const toolbox = project.open({ far: { url: "http://mcp.example.test/mcp" } }, { environment });
      const { host } = new URL(inner);
      await expect(toolbox.mcp.login("far", { onAddress: () => {} })).rejects.toThrow(host);
      expect(asked.join()).toContain("http://mcp.example.test/mcp");
      expect(asked.filter((one) => one.includes(host))).toEqual([]);
      proxy.close();
    },
  );

  it("a key in the settings is sent, also after a login; when it is refused, the error says that it is the key", async () => {
    const first = open();
    await logIn(first);
    // Its own request for the list of tools, a little later, would refresh what expires here.
    await first.close();
    const headers = { authorization: "Bearer mine" };
    const keyed = project.open({ far: { url: guarded.url, headers } });
    const [failure] = await keyed.ready();
    expect(failure?.message).toContain("refused the Authorization header of its settings");
    guarded.expire();
    await keyed.refreshTools();
    expect(refreshes()).toBe(0);
  });

  it("a URL at which there is no server is not said to need no login", async () => {
    const nothing = createServer((_, response) => response.writeHead(404).end("Not Found\n"));
    const port = await listenOnFreePort(nothing);
    const toolbox = project.open({ far: { url: `http://127.0.0.1:${port}/mcp` } });
    await expect(toolbox.mcp.login("far", { onAddress: () => {} })).rejects.toThrow("HTTP 404");
    nothing.close();
  });

  it("an answer to another login is refused", async () => {
    const pasted = Promise.resolve("http://127.0.0.1:1/callback?code=stolen&state=other");
    await expect(open().mcp.login("far", { onAddress: () => {}, pasted })).rejects.toThrow("not the answer");
  });

  it("a token that expires in mid-session is refreshed once, for all calls that fail by it", async () => {
    const toolbox = open();
    await logIn(toolbox);
    await toolbox.refreshTools();
    guarded.expire();
    const answers = await Promise.all(["a", "b", "c"].map((text) => echo(toolbox, text)));
    expect(answers.map(textOf).join()).toMatch(/a.*b.*c/s);
    expect(refreshes()).toBe(1);
  });

  // A small disk can only be mounted by the system's administrator.
  it.runIf(process.platform === "linux" && process.getuid?.() === 0)(
    "P44 P51 a full disk costs no login: a token that could not be stored is not asked for",
    async () => {
      mkdirSync(project.home);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", project.home]);
      try {
        const toolbox = open();
        await logIn(toolbox);
        await toolbox.refreshTools();
        expect(() => {
          for (;;) appendFileSync(join(project.home, "filler"), Buffer.alloc(4096));
        }).toThrow("ENOSPC");
        guarded.expire();
        expect(JSON.stringify((await echo(toolbox, "full")).error)).toContain("no space left");
        rmSync(join(project.home, "filler"));
        expect(textOf(await echo(toolbox, "room again"))).toContain("room again");
        expect(refreshes()).toBe(1);
        await toolbox.close();
      } finally {
        execFileSync("umount", ["-l", project.home]);
      }
    },
  );

  it("two that refresh at the same time do not take the token from each other", async () => {
    const [one, other] = [open(), open()];
    await logIn(one);
    await Promise.all([one.refreshTools(), other.refreshTools()]);
    guarded.expire();
    const answers = await Promise.all([echo(one, "first"), echo(other, "second")]);
    expect(answers.map(textOf).join()).toMatch(/first.*second/s);
    expect(refreshes()).toBe(1);
    guarded.expire();
    expect(textOf(await echo(other, "third"))).toContain("third");
  });

  it("neither a failed initialize nor a service that is down costs the refresh token", async () => {
    await logIn(open());
    const before = readFileSync(stored(), "utf8");
    guarded.fail("server", true);
    expect((await open().ready())[0]?.message).toContain("could not be reached");
    guarded.fail("server", false);
    guarded.expire();
    guarded.fail("tokens", true);
    expect(await open().ready()).toHaveLength(1);
    expect(readFileSync(stored(), "utf8")).toBe(before);
    guarded.fail("tokens", false);
    const toolbox = open();
    expect(await toolbox.ready()).toEqual([]);
    expect(textOf(await echo(toolbox, "still in"))).toContain("still in");
  });
});
