import type { DiscoveryFailure } from "@burin/core";
import { type Output, visible } from "../terminal/output.ts";

/** Says on stderr which sources gave no tools, or not all of theirs. */
export function noteFailures(failures: readonly DiscoveryFailure[], output: Output): void {
  for (const { source, message } of failures)
    output.note(`burin: ${visible(`tools from ${source}: ${message}`)}`);
}
