// What somebody has in an installed package.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files that must be beside the code, and the maps that the code names. @param {string} folder of a package */
export function missingFiles(folder) {
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const code = readdirSync(join(folder, "dist"), { recursive: true })
    .map((file) => join("dist", String(file)))
    .filter((file) => /\.c?js$/.test(file));
  const maps = code.flatMap((file) => {
    const [, map] = /^\/\/# sourceMappingURL=(.+)$/m.exec(readFileSync(join(folder, file), "utf8")) ?? [];
    return map === undefined ? [] : [join(dirname(file), map)];
  });
  const wanted = ["README.md", "LICENSE", "dist/THIRD-PARTY-NOTICES.txt"];
  if (name === "burin") wanted.push("dist/settings.schema.json");
  if (maps.length === 0) return ["source maps"];
  return [...wanted, ...maps].filter((file) => !existsSync(join(folder, file)));
}
