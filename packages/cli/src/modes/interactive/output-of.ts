import type { CommonOptions } from "../../request/options.ts";
import type { Output } from "../../terminal/output.ts";

const MODES = {
  doctor: () => import("../doctor/doctor.ts"),
  tools: () => import("../tools.ts"),
  mcp: () => import("../mcp.ts"),
  grants: () => import("../grants.ts"),
  trust: () => import("../trust.ts"),
} as const;

export async function runForOutput(
  name: keyof typeof MODES,
  words: readonly string[],
  options: CommonOptions,
): Promise<string> {
  const texts: string[] = [];
  const output: Output = {
    out: (text) => texts.push(text),
    content: (text) => texts.push(text),
    note: (text) => texts.push(`${text.replace(/^burin: /, "")}\n`),
    isTerminal: false,
    hasResult: false,
    styled: (_style, text) => text,
  };
  const { run } = await MODES[name]();
  await run({ words, options, subcommandOptions: {} }, { output, signal: new AbortController().signal });
  return texts.join("");
}
