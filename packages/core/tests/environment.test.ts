import { createServer } from "node:http";
import { createSession, createToolbox } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createFile } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { home, makeFolders, root } from "./folder.ts";

let asked: string[];
let proxy: ReturnType<typeof createServer>;
let environment: NodeJS.ProcessEnv;

makeFolders();
beforeEach(async () => {
  asked = [];
  proxy = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.statusCode = 404;
    response.end("not here");
  });
  const port = await listenOnFreePort(proxy);
  environment = { PATH: process.env.PATH, BURIN_HOME: home, HTTP_PROXY: `http://127.0.0.1:${port}` };
});

afterEach(() => {
  proxy.close();
});

describe("P19 commands get what settings let through", () => {
  it.each([
    [[], "none"],
    [["MY_SERVICE_TOKEN"], "a-secret"],
  ])("shell.passEnvironment %j: %s", async (passEnvironment, wanted) => {
    environment = { ...environment, MY_SERVICE_TOKEN: "a-secret" };
    const settings = { shell: { passEnvironment } };
    const session = createSession({
      root,
      model: scriptedModel([]),
      settings,
      environment,
      approvalMode: "yolo",
    });
    const command = 'test -n "$MY_SERVICE_TOKEN" && echo "<$MY_SERVICE_TOKEN>" || echo \'<none>\'';
    const { llmContent } = await session.call("run_shell_command", { command });
    await session.close();
    expect(String(llmContent)).toContain(`<${wanted}>`);
  });
});

describe("the environment that is handed in", () => {
  it("P50 names the proxy of the model's requests", async () => {
    const settings = { model: { name: "m", baseUrl: "http://model.example/v1", timeoutSeconds: 5 } };
    const session = createSession({ root, environment, settings });
    for await (const event of session.run("hi"))
      if (event.type === "done") expect(event.status).toBe("error");
    await session.close();
    expect(asked).toContain("http://model.example/v1/chat/completions");
  });

  it("P50 names the proxy of web_fetch", async () => {
    const toolbox = createToolbox({ root, environment, approvalMode: "yolo" });
    await toolbox.call("web_fetch", { url: "http://93.184.215.14/page" });
    await toolbox.close();
    expect(asked).toEqual(["http://93.184.215.14/page"]);
  });

  it("P39 says where git's own excludes are", async () => {
    createFile(home, "git/ignore", "*.secret\n");
    createFile(root, ".git/HEAD", "ref: refs/heads/main\n");
    createFile(root, "a.secret", "x");
    createFile(root, "a.txt", "x");
    const toolbox = createToolbox({ root, environment: { ...environment, XDG_CONFIG_HOME: home } });
    const { llmContent } = await toolbox.call("glob", { pattern: "*" });
    await toolbox.close();
    expect(llmContent).toContain("a.txt");
    expect(llmContent).not.toContain("a.secret");
  });
});
