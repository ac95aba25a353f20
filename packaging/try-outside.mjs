// Programs of others that use the packages: one with a service of models that is not there, one in a job of CI.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

/**
 * A service that asks for a tool, then answers.
 * @param {(baseUrl: string, asked: string[]) => Promise<void>} work
 * @param {(asked: number) => { type: string, body: string }} reply
 */
async function withService(work, reply) {
  /** @type {string[]} */
  const asked = [];
  const service = createServer(async (request, response) => {
    asked.push(await text(request));
    const { type, body } = reply(asked.length);
    response.setHeader("content-type", type).end(body);
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", () => resolve(null)));
  const address = service.address();
  const port = typeof address === "object" ? address?.port : 0;
  await work(`http://127.0.0.1:${port}/v1`, asked).finally(() => service.close());
}

/**
 * @param {string} file
 * @param {NodeJS.ProcessEnv} env
 */
export async function answerTwice(file, env) {
  const called = { name: "list_directory", arguments: '{"path":"."}' };
  const messages = [
    { role: "assistant", tool_calls: [{ id: "one", type: "function", function: called }] },
    { role: "assistant", content: "There are some." },
  ];
  await withService(
    async (baseUrl, asked) => {
      const variables = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: "none", OPENAI_MODEL: "m" };
      const options = { cwd: dirname(file), env: { ...env, ...variables } };
      const { stdout } = await promisify(execFile)(process.execPath, [file], options);
      if (stdout !== "There are some.\n") throw new Error(stdout);
      if (!asked[1]?.includes("node_modules"))
        throw new Error("the tool's answer did not go back to the model");
    },
    (count) => {
      const choices = [
        { index: 0, message: messages[count - 1], finish_reason: count === 1 ? "tool_calls" : "stop" },
      ];
      return { type: "application/json", body: JSON.stringify({ id: "r", created: 1, model: "m", choices }) };
    },
  );
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
  await withService(
    async (baseUrl, asked) => {
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
      if (
        !JSON.stringify(JSON.parse(asked[0] ?? "{}").messages).includes(JSON.stringify(prompt).slice(1, -1))
      )
        throw new Error("the prompt did not reach the model as it is");
      const given = readFileSync(outputs, "utf8");
      if (!/^exit-code=0\nresult<<(\S+)\ntwo\nlines\n\1\n$/.test(given)) throw new Error(given);
    },
    () => ({ type: "text/event-stream", body: `${words}\n\ndata: [DONE]\n\n` }),
  );
}
