// Reading, writing, listing, finding and searching, against the system's own tools on the same files.
import { run as runFirst } from "./files-first.mjs";
import { run as runReadWrite } from "./files-read-write.mjs";
import { run as runSearch } from "./files-search.mjs";

/** @param {string[]} args */
export async function run(args) {
  await runReadWrite(args.filter((arg) => arg !== "quick"));
  await runSearch(args);
  runFirst();
}
