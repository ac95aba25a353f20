import { type DiscoveryFailure, nearNames, parseRule, type ToolRegistry } from "@burin/core";
import { noteText, type Output } from "./output.ts";

/** Prints the notices of reading the settings on stderr. */
export function noteNotices(notices: readonly string[], output: Output): void {
  for (const notice of notices) output.note(noteText(notice));
}

/** Prints on stderr which sources have no tools, or not all of theirs. */
export function noteFailures(failures: readonly DiscoveryFailure[], output: Output): void {
  noteNotices(
    failures.map(({ source, message }) => `tools from ${source}: ${message}`),
    output,
  );
}

interface Named {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Reports rules of the command line that name no tool. Tools that sources add later are not known yet. */
export function noteUnknownRules({ allow, deny }: Named, registry: ToolRegistry, output: Output): void {
  const known = registry.getAllTools().map(({ name }) => name);
  for (const [option, rules] of [["--allow", allow] as const, ["--deny", deny] as const]) {
    for (const { tool } of rules.map(parseRule)) {
      if (known.includes(tool) || tool.includes("*") || tool.includes("__")) continue;
      const [near] = nearNames(tool, known);
      const hint = near === undefined ? "" : `; did you mean ${near}?`;
      noteNotices([`${option} ${tool}: there is no tool of that name here${hint}`], output);
    }
  }
}
