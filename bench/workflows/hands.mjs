// The two ways to work: plain bash, and Burin with every question answered by yes.
import { spawn } from "node:child_process";

const { createToolbox } = await import(new URL("../../packages/core/dist/index.js", import.meta.url).href);

/**
 * @typedef {{ code: number | null, output: string, refused?: string, reason?: string | undefined }} Done `reason`: of its first question.
 * @typedef {{ run(command: string, how: { background: boolean, network: boolean }): Promise<Done>, close(): Promise<{ questions: number }> }} Hands
 */

/**
 * @param {import("./project.mjs").Project} project
 * @returns {Promise<Hands>}
 */
export async function openShell({ root, env }) {
  /** @type {import("node:child_process").ChildProcess[]} */
  const all = [];
  return {
    run: (command, { background }) =>
      new Promise((done) => {
        // Both streams in one, so that their lines come in the order in which they were written.
        const child = spawn("bash", ["-c", 'exec "$0" -c "$1" 2>&1', "bash", command], {
          cwd: root,
          env,
          detached: true,
          stdio: ["ignore", "pipe", "inherit"],
        });
        all.push(child);
        let output = "";
        child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
        if (background) done({ code: 0, output: "" });
        // What it leaves running may hold the streams open.
        child.on("exit", (code, signal) =>
          setTimeout(() => done({ code: code ?? codeOf(signal), output }), 50),
        );
      }),
    async close() {
      for (const { pid = 0 } of all) {
        try {
          process.kill(-pid, "SIGKILL");
        } catch {}
      }
      return { questions: 0 };
    },
  };
}

/**
 * @param {import("./project.mjs").Project} project
 * @param {{ record?: boolean, mode?: string }} [more] `record`: keeps what undo needs, which the mode `auto` goes by
 * @returns {Promise<Hands>}
 */
export async function openBurin({ root, env }, { mode = "default", record = mode === "auto" } = {}) {
  let questions = 0;
  /** @type {string | undefined} */
  let reason;
  const confirm = async (
    /** @type {unknown} */ _confirmation,
    /** @type {AbortSignal} */ _signal,
    /** @type {{ reason: string }} */ question,
  ) => {
    questions += 1;
    reason ??= question.reason;
    return { outcome: "once" };
  };
  const toolbox = createToolbox({
    root,
    environment: env,
    confirm,
    isTrusted: true,
    record,
    approvalMode: mode,
  });
  return {
    async run(command, { background, network }) {
      const args = {
        command,
        ...(background ? { is_background: true } : {}),
        ...(network ? { sandbox_exception: "network" } : {}),
      };
      reason = undefined;
      const { llmContent, error } = await toolbox.call("run_shell_command", args);
      const text = typeof llmContent === "string" ? llmContent : JSON.stringify(llmContent);
      if (background)
        return error ? { code: null, output: text, refused: text } : { code: 0, output: "", reason };
      const code = /^Exit code: (\d+)/m.exec(text)?.[1];
      const signal = /^Signal: (SIG\w+)/m.exec(text)?.[1];
      const output = /^Output:\n([\s\S]*)$/m.exec(text)?.[1] ?? "";
      if (code === undefined && signal === undefined) return { code: null, output: text, refused: text };
      return {
        code: code === undefined ? codeOf(signal) : Number(code),
        output: output === "(no output)" ? "" : output,
        reason,
      };
    },
    async close() {
      await toolbox.close();
      return { questions };
    },
  };
}

/** @param {string | null | undefined} signal */
function codeOf(signal) {
  return signal === "SIGKILL" ? 137 : signal === "SIGTERM" ? 143 : null;
}
