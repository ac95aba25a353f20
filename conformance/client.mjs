// Burin as the client under test, from the folder where it is installed: connects to the address that it is given and
// does what the scenario is about.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [installed = "", url = ""] = process.argv.slice(2);
const core = pathToFileURL(join(installed, "node_modules/@burin/core/dist/index.js"));
const { createToolbox } = await import(core.href);
const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const home = mkdtempSync(join(tmpdir(), "burin-conformance-"));
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(context);
const oauth = clientId === undefined ? {} : { oauth: { clientId, clientSecret } };
const toolbox = createToolbox({
  root: home,
  environment: { ...process.env, HOME: home, BURIN_HOME: join(home, "home"), BURIN_KEYCHAIN: "off" },
  settings: { mcpServers: { it: { url, type: "http", timeout: 20_000, ...oauth } } },
  approvalMode: "yolo",
  // A person who agrees to everything as it is proposed.
  confirm: async () => ({ outcome: "once" }),
});

/** What a browser does, with a person who always agrees. */
const onAddress = (/** @type {URL} */ address) => {
  void fetch(address, { redirect: "follow" }).catch(() => {});
};

/** @param {() => Promise<unknown>} work */
async function withLogin(work) {
  for (let logins = 0; ; logins += 1) {
    try {
      return await work();
    } catch (error) {
      if (logins === 3 || !String(error).includes("burin mcp login")) throw error;
      await toolbox.mcp.login("it", { onAddress });
    }
  }
}

try {
  const { tools } = /** @type {{ tools: readonly string[] }} */ (
    await withLogin(() => toolbox.mcp.test("it"))
  );
  await toolbox.refreshTools();
  for (const name of tools) {
    await withLogin(async () => {
      const { error } = await toolbox.call(name, scenario === "tools_call" ? { a: 5, b: 3 } : {});
      if (error?.message.includes("burin mcp login")) throw new Error(error.message);
    });
  }
} finally {
  await toolbox.close();
  rmSync(home, { recursive: true, force: true });
}
