// What somebody has and does with the installed packages: their files, a plugin, and the session of another agent.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

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

/**
 * The plugin of the page on plugins, then a session that Claude Code has recorded, and a prompt that goes on with it.
 * @param {string} user where the packages are installed
 * @param {{ page: string, record: string, home: string, env: NodeJS.ProcessEnv }} given
 */
export async function moveIn(user, { page, record, home, env }) {
  const [plugin, project] = [join(home, "my-plugin"), join(home, "project")];
  for (const folder of [project, join(plugin, "skills/release")]) mkdirSync(folder, { recursive: true });
  const blocks = [...readFileSync(page, "utf8").matchAll(/```\w+\n([\s\S]*?)```/g)].map(
    ([, text = ""]) => text,
  );
  const blockWith = (/** @type {string} */ words) => blocks.find((text) => text.includes(words)) ?? "";
  writeFileSync(join(plugin, "plugin.json"), blockWith("plugin.schema.json"));
  writeFileSync(join(plugin, "skills/release/SKILL.md"), blockWith("name: release"));
  const cwd = realpathSync(project);
  const records = join(home, ".claude/projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(records, { recursive: true });
  writeFileSync(
    join(records, "8ed2dc82-5484-471b-ad0c-f3bd747499eb.jsonl"),
    readFileSync(record, "utf8").replaceAll("/ROOT", cwd),
  );
  const testing = pathToFileURL(join(user, "node_modules/@burin/core/dist/testing.js"));
  const { startFakeModelServer } = await import(testing.href);
  const model = await startFakeModelServer([{ text: "Going on." }, { text: "Going on." }]);
  const variables = { HOME: home, BURIN_HOME: join(home, ".burin"), OPENAI_BASE_URL: model.baseUrl };
  const options = { cwd, env: { ...env, ...variables, OPENAI_MODEL: "m", OPENAI_API_KEY: "k" } };
  const burin = join(user, "node_modules/.bin/burin");
  const ask = async (/** @type {string[]} */ ...words) =>
    (await promisify(execFile)(burin, words, options)).stdout;
  try {
    await ask("plugins", "add", plugin, "--apply");
    await ask("import", "--from", "claude", "--apply");
    const expected = [
      { words: ["-c", "-p", "And now?"], heard: "It has two lines: one and two." },
      { words: ["-p", "Make a release."], heard: "how a release of this project is made" },
    ];
    for (const [at, { words, heard }] of expected.entries()) {
      const answer = await ask(...words);
      if (answer !== "Going on.\n") throw new Error(answer);
      const asked = JSON.stringify(model.requests[at]?.body.messages);
      if (!asked.includes(heard)) throw new Error(`"${heard}" did not reach the model: ${asked}`);
    }
  } finally {
    await model.close();
  }
}
