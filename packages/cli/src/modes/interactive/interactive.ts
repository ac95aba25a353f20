import { setFlagsFromString } from "node:v8";
import { languageIn, useTexts } from "../../locales/say.ts";
import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { Front } from "./front.ts";

/** So much has to run before V8 optimizes a function. By its own measure, compiling is a third of the work of a screen. */
const INTERRUPT_BUDGET = 2_000_000;

/** What V8 keeps free for what is new does not grow: of what a screen makes, next to nothing lives on. */
const NURSERY_GROWTH = 1;

/** Opens the screen: first the prompt, which needs little, and then what works behind it. */
export async function runInteractive(first: string, options: CommonOptions, io: Io): Promise<ExitCode> {
  setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  setFlagsFromString(`--semi-space-growth-factor=${NURSERY_GROWTH}`);
  await useTexts(languageIn(process.env));
  const front = new Front(options);
  front.open();
  const { App } = await import("./app.ts").catch((error: unknown) => {
    front.close();
    throw error;
  });
  return new App(front, options).run(first, io);
}
