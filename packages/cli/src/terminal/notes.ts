import type { DiscoveryFailure } from "@burin/core";
import { type Output, visible } from "./output.ts";

/** Says on stderr what settings had to say when they were read. */
export function noteNotices(notices: readonly string[], output: Output): void {
  for (const notice of notices) output.note(`burin: ${visible(notice)}`);
}

/** Says on stderr which sources gave no tools, or not all of theirs. */
export function noteFailures(failures: readonly DiscoveryFailure[], output: Output): void {
  noteNotices(
    failures.map(({ source, message }) => `tools from ${source}: ${message}`),
    output,
  );
}
