// The Node that some programs of others need, where Burin itself runs with an older one.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The one that NEWER_NODE names, or else one that is installed into this folder. @param {string} folder */
export function newerNode(folder) {
  const { NEWER_NODE } = process.env;
  if (NEWER_NODE !== undefined) return NEWER_NODE;
  const install = ["install", "--silent", "--no-audit", "--no-fund", "--no-save", "node@22.23.3"];
  execFileSync("npm", install, { cwd: folder, stdio: "inherit" });
  return join(folder, "node_modules/node/bin/node");
}
