import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { explainProtectedFile } from "@burin/shell-judge";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";

const NAMES = [
  ...[".env", ".env.local", ".envrc", ".bashrc", ".profile", ".zshenv", ".gitconfig", ".npmrc", ".netrc"],
  ...[".yarnrc.yml", ".mcp.json", "mcp.json", ".burinignore", ".pre-commit-config.yaml", "lefthook.yml"],
  ...["a.code-workspace", ".vimrc", "sitecustomize.py", ".burin/settings.json", ".vscode/tasks.json"],
  ...[".idea/x.xml", ".husky/pre-commit", ".githooks/pre-push", ".claude/x.json", ".cursor/mcp.json"],
  ...[".gemini/settings.json", ".devcontainer/devcontainer.json", ".ssh/config", ".aws/credentials"],
];
const ORDINARY = ["AGENTS.md", ".env.example", ".gitignore", "src/a.ts", "packages/a/tsconfig.json"];

let room: SandboxFixture;

beforeEach(() => {
  room = new SandboxFixture();
  for (const name of [...NAMES, ...ORDINARY]) {
    mkdirSync(dirname(join(room.root, name)), { recursive: true });
    writeFileSync(join(room.root, name), "before\n");
  }
});

afterEach(() => room.remove());

/** Five ways to change a file; those that worked are told. */
const WAYS = `changed() { [ "$(cat "$1" 2>/dev/null)" = before ] || echo "$2 $1"; }
for f in "$@"; do
  echo x > "$f"; changed "$f" write; echo y >> "$f"; changed "$f" append
  echo z > made; mv -f made "$f"; changed "$f" replace
  rm -f "$f"; changed "$f" remove; sed -i s/before/after/ "$f"; changed "$f" sed
done 2>/dev/null`;

if (process.platform === "linux") {
  describe("protected names in the sandbox", requirePrograms("bwrap"), () => {
    it("P53 no command changes one of them, in any way; ordinary files are changed", async () => {
      expect(NAMES.filter((name) => explainProtectedFile(name) === null)).toEqual([]);
      expect((await room.commands.sandbox()).sandbox).not.toBeNull();
      const words = [...NAMES, ...ORDINARY].map((name) => `'${name}'`).join(" ");
      const { text } = await room.run(`set -- ${words}\n${WAYS}`);
      const told = text.trim().split("\n");
      expect(told.filter((line) => line.startsWith("write ")).sort()).toEqual(
        ORDINARY.map((name) => `write ${name}`).sort(),
      );
      expect(new Set(told.map((line) => line.replace(/^\w+ /, "")))).toEqual(new Set(ORDINARY));
      for (const name of NAMES)
        expect([name, readFileSync(join(room.root, name), "utf8")]).toEqual([name, "before\n"]);
    });
  });
}
