import { setFlagsFromString } from "node:v8";
import { detectLanguage, useTexts } from "../../locales/say.ts";
import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { Front } from "./front.ts";

/** Keeps V8's space for new objects from growing: almost nothing that the screen creates lives long. */
const NURSERY_GROWTH = 1;

/** Opens the screen: first the prompt, which needs little code, then everything else. */
export async function runInteractive(first: string, options: CommonOptions, io: Io): Promise<ExitCode> {
  setFlagsFromString(`--semi-space-growth-factor=${NURSERY_GROWTH}`);
  await useTexts(detectLanguage(process.env));
  const front = new Front(options);
  front.open();
  const { App } = await import("./app.ts").catch((error: unknown) => {
    front.close();
    throw error;
  });
  return new App(front, options).run(first, io);
}
