import { createToolbox } from "@burin/core";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import { type Output, visible } from "../terminal/output.ts";
import { type CommonOptions, openSettings } from "./options.ts";

/** Lists what the model would be told. */
export async function runTools(asJson: boolean, options: CommonOptions, output: Output): Promise<ExitCode> {
  const { settings, notices } = await openSettings(options);
  for (const notice of notices) output.note(`burin: ${visible(notice)}`);
  const { registry } = createToolbox({ root: options.root, settings });
  const tools = registry.getFunctionDeclarations().map((declaration) => ({
    ...declaration,
    source: registry.sourceOf(declaration.name) ?? "",
  }));
  if (asJson) {
    output.out(`${JSON.stringify(tools, null, 2)}\n`);
    return EXIT.done;
  }
  for (const tool of tools) {
    output.out(`${visible(tool.name)}  (${visible(tool.source)})\n    ${visible(tool.description)}\n`);
  }
  return EXIT.done;
}
