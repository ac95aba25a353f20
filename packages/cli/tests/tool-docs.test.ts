import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AgentEvent, createSession } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, burin } from "./burin.ts";
import { root } from "./project.ts";

const PAGES = fileURLToPath(new URL("../../../docs/tools", import.meta.url));
/** They need a server of the world outside; their own tests have one of their own. */
const OF_THE_WEB = ["web_fetch.md", "web_search.md"];
const SAMPLE = {
  "README.md": "# tally\n\nCounts the words of a text.\n",
  "package.json": '{ "name": "tally", "type": "module" }\n',
  "src/tally.js":
    "export function tally(text) {\n  const words = text.split(/\\s+/);\n  return words.length;\n}\n\nif (process.argv[2] !== undefined) console.log(tally(process.argv[2]));\n",
};

let bin: string;

beforeEach(async () => {
  bin = createTemporaryFolder();
  await mkdir(join(root, "src"));
  for (const [name, text] of Object.entries(SAMPLE)) await writeFile(join(root, name), text);
  await writeFile(join(bin, "burin"), `#!/bin/sh\nexec "${process.execPath}" "${BURIN}" "$@"\n`);
  await chmod(join(bin, "burin"), 0o755);
});

const pages = await readdir(PAGES);

/** The fenced blocks of a language, in their order. */
async function blocks(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(PAGES, page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block = ""]) => block,
  );
}

function shell(
  command: string,
): Promise<{ readonly code: number; readonly output: string; readonly errors: string }> {
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: root, BURIN_HOME: join(bin, "home") };
  return new Promise((resolve) => {
    const child = execFile("sh", ["-c", command], { cwd: root, env }, (_error, output, errors) => {
      resolve({ code: child.exitCode ?? -1, output, errors });
    });
    child.stdin?.end();
  });
}

describe("the pages of the tools", () => {
  it("R38 there are fourteen tools, and each has its page", async () => {
    const { stdout } = await burin(["tools"], { cwd: root });
    const names = [...stdout.matchAll(/^(\w+) {2}\(/gm)].map(([, name]) => `${name}.md`);
    expect(names).toHaveLength(14);
    expect(pages.sort()).toEqual(names.sort());
  });

  it.each(pages.filter((page) => !OF_THE_WEB.includes(page) && page !== "task.md"))(
    "the example of %s works as it says",
    async (page) => {
      const [command = "", tooMany] = await blocks(page, "sh");
      expect(command).toContain(`burin call ${page.replace(".md", "")}`);
      expect(tooMany).toBeUndefined();
      const { code, output, errors } = await shell(command);
      expect({ code, errors }).toEqual({ code: 0, errors: "" });
      const [expected] = await blocks(page, "text");
      expect(output.replaceAll(root, "/project").replace(/^Time: [\d.]+ s$/m, "Time: 0.04 s")).toBe(expected);
    },
  );

  it("the example of task.md works", async () => {
    const [block = "{}"] = await blocks("task.md", "json");
    const call = JSON.parse(block);
    const model = scriptedModel([{ calls: [call] }, { text: "in src/tally.js" }, { text: "There." }]);
    const session = createSession({ root, model, environment: { BURIN_HOME: join(bin, "home") } });
    const events: AgentEvent[] = [];
    for await (const event of session.run("go")) events.push(event);
    await session.close();
    const answers = events.flatMap((event) => (event.type === "tool_call" ? [event.call] : []));
    expect(answers.at(-1)).toMatchObject({ status: "success", llmContent: "in src/tally.js" });
  });
});
