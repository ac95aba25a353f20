// The action in a job of CI, with a service of models.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

/**
 * A service that always answers the same.
 * @param {(baseUrl: string, asked: string[]) => Promise<void>} work
 * @param {string} body
 */
async function withService(work, body) {
  /** @type {string[]} */
  const asked = [];
  const service = createServer(async (request, response) => {
    asked.push(await text(request));
    response.setHeader("content-type", "text/event-stream").end(body);
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", () => resolve(null)));
  const address = service.address();
  const port = typeof address === "object" ? address?.port : 0;
  await work(`http://127.0.0.1:${port}/v1`, asked).finally(() => service.close());
}

/**
 * The last script of the action, as a runner starts it.
 * @param {string} action
 * @param {{ bin: string, folder: string, env: NodeJS.ProcessEnv }} where
 */
export async function runAction(action, { bin, folder, env }) {
  const script = /\n {6}run: \|\n([\s\S]*)$/.exec(readFileSync(action, "utf8"))?.[1] ?? "";
  const cwd = join(folder, "job");
  mkdirSync(cwd);
  const [file, outputs] = [join(folder, "step.sh"), join(folder, "outputs")];
  writeFileSync(file, script.replace(/^ {8}/gm, ""));
  writeFileSync(outputs, "");
  const prompt = '--not an option, "quoted" $(touch made) `touch made`';
  const words = `data: {"choices":[{"index":0,"delta":{"content":"two\\nlines"},"finish_reason":"stop"}]}`;
  await withService(async (baseUrl, asked) => {
    const variables = {
      PATH: `${bin}:${env.PATH}`,
      OPENAI_BASE_URL: baseUrl,
      OPENAI_MODEL: "m",
      GITHUB_OUTPUT: outputs,
      BURIN_PROMPT: prompt,
      BURIN_OPTIONS: "--max-turns=3\n\n--budget=50 calls\n",
    };
    const args = ["--noprofile", "--norc", "-eo", "pipefail", file];
    const { stdout } = await promisify(execFile)("bash", args, { cwd, env: { ...env, ...variables } });
    if (stdout !== "two\nlines\n") throw new Error(stdout);
    if (!JSON.stringify(JSON.parse(asked[0] ?? "{}").messages).includes(JSON.stringify(prompt).slice(1, -1)))
      throw new Error("the prompt did not reach the model as it is");
    const given = readFileSync(outputs, "utf8");
    if (!/^exit-code=0\nresult<<(\S+)\ntwo\nlines\n\1\n$/.test(given)) throw new Error(given);
  }, `${words}\n\ndata: [DONE]\n\n`);
}
