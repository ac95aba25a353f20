// What every bench needs: whole processes timed from outside, in pairs, so that a drifting machine harms no ratio.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * @typedef {{ wallMs: number, cpuMs: number, peakMb: number, exitCode: number | null }} Figures
 */

/**
 * Runs a command to its end. CPU time is what the shell's `times` says of its children; peak memory is
 * the kernel's high-water mark, read until the process is gone.
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Figures>}
 */
export function measure(command, env = process.env) {
  const started = process.hrtime.bigint();
  const shell = spawn(
    "bash",
    ["-c", '"$@" >/dev/null 2>&1 </dev/null; code=$?; times; exit $code', "bash", ...command],
    {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakOfChildren(shell.pid ?? 0));
  }, 4);
  let text = "";
  shell.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    shell.on("error", reject);
    shell.on("close", (exitCode) => {
      clearInterval(watch);
      const wallMs = Number(process.hrtime.bigint() - started) / 1e6;
      resolve({ wallMs, cpuMs: childCpuMs(text), peakMb, exitCode });
    });
  });
}

/** @param {string} text */
function childCpuMs(text) {
  const line = text.trim().split("\n").at(-1) ?? "";
  let total = 0;
  for (const [, minutes, seconds] of line.matchAll(/(\d+)m([\d.]+)s/g)) {
    total += Number(minutes) * 60_000 + Number(seconds) * 1000;
  }
  return total;
}

/** @param {number} pid */
function peakOfChildren(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return Math.max(0, ...children.filter(Boolean).map((child) => peakOf(Number(child))));
  } catch {
    return 0;
  }
}

/** @param {number} pid */
function peakOf(pid) {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? 0) / 1024;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * One line of a bench, with whether its goal holds. Misses are counted, so that the process can say so.
 * @param {{ what: string, value: number, unit: string, most: number, more?: string }} figure
 */
export function printResult({ what, value, unit, most, more }) {
  const holds = value <= most;
  if (!holds) process.exitCode = 1;
  const verdict = holds ? "holds " : "MISSED";
  console.log(
    `${verdict}  ${what}: ${value.toFixed(2)} ${unit} (goal ${most} ${unit})${more ? `   ${more}` : ""}`,
  );
}
