import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv } from "./fake-model.ts";
import { put, root } from "./project.ts";

let posted: { path: string | undefined; text: string }[];
const closing: (() => unknown)[] = [];

beforeEach(() => {
  posted = [];
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Where the traces go; gives its address. */
async function openReceiver(): Promise<string> {
  const server = createServer(async (request, response) => {
    posted.push({ path: request.url, text: await text(request) });
    response.end("{}");
  });
  closing.push(() => server.close());
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

async function ask(env: Record<string, string> = {}, format = "stream-json") {
  const calls = [{ name: "run_shell_command", args: { command: "env" } }];
  const service = await modelEnv({ calls }, { text: "ready" });
  const args = ["-p", "go", "--yes", "--sandbox", "off", "--output-format", format];
  return burin(args, { cwd: root, env: { ...service, ...env } });
}

const tracesIn = () => posted.filter(({ path }) => path === "/v1/traces").map(({ text }) => text);

describe("OpenTelemetry of burin -p", () => {
  it("has all of a run when the process has ended; what a command gets has no key of it", async () => {
    const url = await openReceiver();
    const OTEL_EXPORTER_OTLP_HEADERS = "api-key=a-key-of-the-test";
    const { stdout, code } = await ask({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS });
    expect(code).toBe(0);
    const [traces = "", ...more] = tracesIn();
    expect(more).toEqual([]);
    for (const name of ["invoke_agent burin", "chat fake", "execute_tool run_shell_command"])
      expect(traces).toContain(`"name":"${name}"`);
    expect(posted.map(({ path }) => path).sort()).toEqual(["/v1/metrics", "/v1/traces"]);
    expect(stdout).toContain("BURIN_");
    expect(stdout).not.toContain("a-key-of-the-test");
  });

  it("says on stderr, once, where it could not be sent", async () => {
    for (const endpoint of ["no address", "http://127.0.0.1:9"]) {
      const { stdout, stderr, code } = await ask({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, "text");
      expect([stdout, code]).toEqual(["ready\n", 0]);
      expect(stderr.match(/Telemetry (?:is not|could not be) sent/g)).toHaveLength(1);
    }
  });

  it("is switched on by the user's settings, and never by those of a project", async () => {
    const url = await openReceiver();
    const settings = { telemetry: { endpoint: url, contents: true } };
    put(".burin/settings.json", settings);
    await burin(["trust", "yes"], { cwd: root });
    const { stdout } = await ask();
    expect(stdout).toContain('"status":"success"');
    expect(posted).toEqual([]);
    put(".home/settings.json", settings);
    await ask();
    expect(tracesIn().join("")).toContain("gen_ai.tool.call.arguments");
  });
});
