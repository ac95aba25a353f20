import { expect, it } from "vitest";
import { BESIDE, findTellingLine } from "./mcp-error.ts";

const NODE = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/nope.mjs'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`;
const PYTHON = `Traceback (most recent call last):
  File "/srv/server.py", line 3, in <module>
    import missing_module
ModuleNotFoundError: No module named 'missing_module'
`;
const NPM = `npm error code E404
npm error 404 Not Found - GET https://registry.example/no-such-server - Not found
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git folder.
npm error A complete log of this run can be found in: ~/.npm/_logs/x.log
`;
const RUST = `thread 'main' panicked at src/main.rs:4:5:
error: no configuration
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace
`;

it.each([
  [NODE, "Error: Cannot find module '/nope.mjs'"],
  [PYTHON, "ModuleNotFoundError: No module named 'missing_module'"],
  [NPM, "npm error 404 Not Found - GET https://registry.example/no-such-server - Not found"],
  [RUST, "error: no configuration"],
  ["starting\nAPI_KEY is required\nbye\n", "API_KEY is required"],
  ["sh: 1: no-such: not found\n", "sh: 1: no-such: not found"],
  ["one\ntwo\n\n", "two"],
  ["\n \n", ""],
  ["", ""],
  ["    at only (a:1:1)\n", "at only (a:1:1)"],
  [`Error: ${"x".repeat(1000)}`, `Error: ${"x".repeat(292)}…`],
])("R24 of the last words of a program, one line says why it ended: %j", (output, line) => {
  expect(findTellingLine(output)).toBe(line);
});

it.each(BESIDE)("R24 a line that explains no failure begins with %s", (start, example) => {
  expect(start.test(example)).toBe(true);
  expect(findTellingLine(`Error: no port\n${example}`)).toBe("Error: no port");
});
