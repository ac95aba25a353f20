// What follow-pages.mjs must know to follow a page and what the page does not say: its reader knows it, or has it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A free port is likely: nothing gives these out by itself. */
const port = () => String(10_000 + Math.floor(Math.random() * 20_000));
const APP = "it opens the app, which needs a terminal";
const INSTALLED = "the packages are those that this repository has packed";
const TRACKER = port();

/** @type {Record<string, import("./follow-pages.mjs").Page>} */
export const pages = {
  "README.md": {
    has: project,
    as: { "http://127.0.0.1:11434/v1": "<URL>", "<model>": "m" },
    notRun: {
      "npm ci && npm start": APP,
      "npm pack -w packages/cli": "it packs a clone, which is not there",
      "burin  ": APP,
    },
  },
  "docs/command-line.md": {
    has: project,
    notRun: {
      "burin  ": APP,
      '{"sessionId", "status"': "it is the form of a document",
      '{"type":"question"': "it is an event",
    },
  },
  "docs/serve-mcp.md": {
    has: ({ project }) => writeFileSync(join(project, "README.md"), "# A project\n"),
    as: { "/home/me/project": "<PROJECT>", 8931: port() },
    notRun: { "claude ": "conformance/agents.mjs starts Claude Code and others" },
  },
  "docs/serve-acp.md": {
    as: { "/usr/local/bin/burin": "<BURIN>" },
    tells: { 'npx acpx --agent "$(zed': "Zed asks", 'npx acpx --agent "$(jetbrains': "JetBrains asks" },
    shows: [
      `npx acpx --agent "$(zed=.config/zed/settings.json; ${commandIn("$zed")})" exec "Zed asks"`,
      `npx acpx --agent "$(jetbrains=.jetbrains/acp.json; ${commandIn("$jetbrains")})" exec "JetBrains asks"`,
      // These need the editor and its plugin, so only the command is compared.
      ...[".config/nvim/init.lua", ".emacs.d/init.el"].map(
        (file) => `tr "\\n" " " < ~/${file} | grep -E '"burin".*"serve",? "acp"'`,
      ),
    ],
  },
  "docs/library.md": {
    has: (places) => {
      project(places);
      for (const name of ["review-bot/review.mjs", "session-server/server.mjs"])
        cpSync(join(places.repository, "examples", name), join(places.project, name.replace(/.*\//, "")));
    },
    as: { 8123: port() },
    notRun: {
      "npm install @burin/core": INSTALLED,
      "const store = openStore": "it lists what a store can do",
    },
  },
  "docs/tool-contract.md": {
    notRun: {
      "confirm: async": "it is one member",
      '{\n  "type": "question"': "it is an event",
      "import { defineTool } from": "packages/core/tests/typed-tools.test.ts compiles and runs such tools",
    },
  },
  "docs/hooks-skills-commands.md": {
    has: project,
    files: "../home/.burin",
    tells: {
      'burin -p "make a release"': "how a release of this project is made",
      'burin -p "make the next release"': "how a release of this project is made",
      "burin -p '/review": "Review the changes in src. Look first for: off by one",
      'burin -p "What time': "[From a hook of the user] It is ",
    },
    notRun: { "burin plugins add https:": "nothing of the internet is asked" },
    shows: [
      'burin -p "What time is it?"',
      edit("sk-1", "Keys belong into the environment"),
      edit("two", "Successfully modified"),
      "grep two src/a.txt && grep tested test.log",
    ],
  },
  "docs/moving-in.md": {
    has: hasSession,
    notRun: { "burin -c  ": APP },
    tells: { "burin -c -p": "It has two lines: one and two." },
    shows: ['burin -c -p "And now?"'],
  },
  "docs/sessions.md": {
    has: (places) => {
      project(places);
      writeFileSync(
        join(places.project, "functions.schema.json"),
        '{ "type": "object", "title": "findings" }',
      );
    },
    first: [{ command: "burin -p hello", prints: "" }],
    notRun: {
      'burin -p "clean up': "it needs a model that cleans up",
      "burin sessions answer": "it needs the question of the command before",
      "burin attempts take 3": "it needs an attempt in which a model has changed that file",
      "burin worktrees merge": "it needs a work tree in which a model has changed something",
      '{"len"': "it is a line of a record",
    },
  },
  "docs/models.md": {
    has: project,
    as: { "http://127.0.0.1:11434/v1": "<URL>", "qwen3-coder ": "fake-model " },
  },
  "docs/agent-loop.md": {
    has: ({ home }) => {
      mkdirSync(join(home, ".burin"));
      const model = { prices: { m: { input: 1, output: 1 } } };
      writeFileSync(join(home, ".burin/settings.json"), JSON.stringify({ model }));
    },
  },
  "docs/terminal.md": { notRun: { '{ "ctrl+k"': "it is keybindings.json, which the app reads" } },
  "docs/automation.md": {
    has: project,
    as: { "http://localhost:4318": "http://127.0.0.1:9" },
    notRun: {
      "name: review": "packaging/run.mjs gives it to the checker of GitHub",
      "docker ": "it needs Docker",
    },
  },
  "docs/mcp.md": {
    has: ({ repository, project }) =>
      cpSync(join(repository, "examples/mcp-server"), project, { recursive: true }),
    as: {
      "search-server.js": "server.mjs",
      "https://mcp.example.org/mcp": `http://127.0.0.1:${TRACKER}/mcp`,
    },
    first: [
      {
        command: `BURIN_SERVE_TOKEN=my-token burin serve mcp --http --port ${TRACKER}`,
        prints: "burin: MCP server at ...",
      },
    ],
    notRun: {
      "burin mcp add github": "it needs a service to log in to",
      "burin mcp login github": "it needs a service to log in to",
      "burin -p '/alias:": "it needs a server with prompts",
      "burin -p 'summarize @alias:": "it needs a server with resources",
    },
  },
  "docs/discovery.md": {
    has: ({ repository, project }) =>
      cpSync(join(repository, "examples/discovery-command"), project, { recursive: true }),
    as: { "/home/me/tools.mjs": "<CLONE>/examples/discovery-command/tools.mjs" },
    notRun: { "[\n": "it is what a program prints" },
    shows: ["cd .. && burin tools | grep count_words"],
  },
};

/** A small repository. @param {import("./follow-pages.mjs").Places} places */
function project({ project: folder }) {
  const scripts = { test: "echo tested" };
  const files = {
    "README.md": "# A project\n",
    "src/a.txt": "one\n",
    "package.json": JSON.stringify({ scripts }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...words], { cwd: folder });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=start");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
}

/** A session that Claude Code has recorded here. @param {import("./follow-pages.mjs").Places} places */
function hasSession({ repository, home, project: folder }) {
  const records = join(home, ".claude/projects", folder.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(records, { recursive: true });
  const record = readFileSync(join(repository, "packages/cli/tests/other-agents/claude.jsonl"), "utf8");
  writeFileSync(
    join(records, "8ed2dc82-5484-471b-ad0c-f3bd747499eb.jsonl"),
    record.replaceAll("/ROOT", folder),
  );
}

/** Prints the command that an editor's settings name. @param {string} file in the home */
function commandIn(file) {
  const read = `JSON.parse(require("fs").readFileSync(process.argv[1])).agent_servers.Burin`;
  return `node -p 'const { command, args } = ${read}; [command, ...args].join(" ")' ~/${file}`;
}

/** An edit that answers with some words. @param {string} text @param {string} words */
function edit(text, words) {
  const args = `{"file_path":"'"$PWD"'/src/a.txt","old_string":"one","new_string":"${text}"}`;
  return `burin call edit '${args}' --yes 2>&1 | grep "${words}"`;
}
