// The screens of the app, each made by driving the app itself with a fake model service.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TerminalPicture } from "./terminal-picture.mjs";

const TESTING = fileURLToPath(new URL("../../packages/core/dist/testing.js", import.meta.url));
const { startFakeModelServer } = await import(TESTING);
const ROWS = 34;
const PAGE = "session.html";

const FILES = {
  "package.json": '{ "name": "cart", "type": "module", "scripts": { "test": "node test.js" } }\n',
  "src/cart.js": `// Adds up what is in a cart.
export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}

export function isEmpty(items) {
  return items.length == 0;
}
`,
  "test.js": `import { total } from "./src/cart.js";
for (let n = 1; n < 9; n += 1) console.log("ok", n, "total of", n, "items");
if (total([]) !== 0) process.exit(1);
console.log("# pass 8");
`,
};
const ANSWER = `The total was added up in **floating point**, so three items of 0.1 made \`0.30000000000000004\`.

## What I changed

1. \`total\` rounds each line to whole cents.
2. \`isEmpty\` compares with \`===\`.

| items | before | after |
| ----- | -----: | ----: |
| 3 × 0.1 | 0.30000000000000004 | 0.3 |
| 2 × 1.15 | 2.3 | 2.3 |

\`\`\`js
const cents = items.reduce((sum, { price, count }) => sum + Math.round(price * 100) * count, 0);
\`\`\`
`;

const ASKED = [
  {
    question: "Where should carts be kept?",
    choices: [
      { label: "SQLite", description: "one file, no server" },
      { label: "PostgreSQL", description: "several machines" },
      { label: "In memory", description: "gone after a restart" },
    ],
  },
  {
    question: "Which browsers count?",
    choices: [{ label: "Current ones" }, { label: "Safari 15, too" }],
    multiple: true,
  },
];

/** @param {string} command */
const run = (command) => ({ calls: [{ name: "run_shell_command", args: { command } }] });
/** @param {import("node:http").IncomingMessage} _request @param {import("node:http").ServerResponse} response */
const hang = (_request, response) => void response.writeHead(200).flushHeaders();
/** @param {number} status @param {object} body @param {Record<string, string>} [headers] */
const refuse = (status, body, headers = {}) => ({
  raw: (/** @type {unknown} */ _request, /** @type {import("node:http").ServerResponse} */ response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: body }));
  },
});
/** @param {string} root */
const edit = (root) => ({
  calls: [
    {
      name: "edit",
      args: {
        file_path: join(root, "src/cart.js"),
        edits: [
          {
            old_string: "sum += item.price * item.count;",
            new_string: "sum += Math.round(item.price * 100) * item.count;",
          },
          { old_string: "return sum;", new_string: "return sum / 100;" },
          { old_string: "items.length == 0", new_string: "items.length === 0" },
        ],
      },
    },
  ],
});

/**
 * Each screen: what the model answers, and how a person comes to it.
 * @typedef {{ terminal: TerminalPicture, text: (key: string) => string, root: string, home: string }} Stage
 * @typedef {{ replies?: (root: string) => readonly unknown[], hasModel?: boolean, args?: string[],
 *   go: (stage: Stage) => Promise<unknown> }} Scene
 * @type {Record<string, Scene>}
 */
export const SCENES = {
  "first-start": {
    hasModel: false,
    go: ({ terminal, text }) => terminal.shows(text("first.title"), "Gemini"),
  },
  start: { go: ({ terminal, text }) => terminal.shows(text("start.try")) },
  commands: {
    go: async ({ terminal, text }) => {
      await terminal.shows(text("start.try"));
      terminal.type("/");
      await terminal.shows("/approval");
    },
  },
  waiting: {
    replies: () => [{ raw: hang }],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows(text("wait.model"), /· 3 s/);
    },
  },
  running: {
    replies: () => [run("for n in 1 2 3 4 5 6; do echo compiling part $n; sleep 0.1; done; sleep 60")],
    args: ["--approval-mode", "yolo"],
    go: async ({ terminal, text }) => {
      terminal.type("build it\r");
      await terminal.shows("compiling part 6", text("call.background"));
    },
  },
  edit: {
    replies: (root) => [edit(root)],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows(text("question.edit"));
    },
  },
  hunks: {
    replies: (root) => [edit(root)],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows(text("question.edit"));
      await terminal.answer("h", text("question.hunks"));
    },
  },
  shell: {
    replies: () => [
      run("npm install left-pad && rm -rf build dist && rm -rf ~/old-notes && git push origin main"),
    ],
    go: async ({ terminal, text }) => {
      terminal.type("clean up and publish\r");
      await terminal.shows(text("question.exec"));
    },
  },
  always: {
    replies: () => [run("npm install left-pad")],
    go: async ({ terminal, text }) => {
      terminal.type("add left-pad\r");
      await terminal.shows(text("question.exec"));
      await terminal.answer("a", text("question.why"));
    },
  },
  finished: {
    replies: (root) => [edit(root), run("npm test"), run("npm run lint"), { text: ANSWER }],
    args: ["--approval-mode", "yolo"],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows("const cents", text("status.keys"));
    },
  },
  refused: {
    replies: (root) => [edit(root), { text: "I leave it as it is." }],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows(text("question.edit"));
      await terminal.answer("n", text("question.why"));
      terminal.type("use integers instead\r");
      await terminal.shows("I leave it as it is.", text("status.keys"));
    },
  },
  export: {
    replies: (root) => [edit(root), run("npm test"), { text: ANSWER }],
    args: ["--approval-mode", "yolo"],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows("const cents", text("status.keys"));
      terminal.type(`/export ${PAGE}\r`);
      await terminal.shows(PAGE, text("export.done"));
    },
  },
  folder: {
    replies: (root) => [
      { calls: [{ name: "read_file", args: { path: join(root, "../shop/prices.js") } }] },
      { text: "They agree." },
    ],
    go: async ({ terminal, text }) => {
      terminal.type("do the prices of ../shop agree with ours?\r");
      await terminal.shows(text("question.beside"));
    },
  },
  ask: {
    replies: () => [{ calls: [{ name: "ask_user", args: { questions: ASKED } }] }],
    go: async ({ terminal }) => {
      terminal.type("keep the carts\r");
      await terminal.shows("SQLite");
    },
  },
  plan: {
    replies: () => [
      {
        calls: [
          {
            name: "exit_plan_mode",
            args: { plan: "## Plan\n\n1. Round each line in `total`.\n2. Test it." },
          },
        ],
      },
    ],
    args: ["--approval-mode", "plan"],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows(text("question.plan"));
    },
  },
  changes: {
    replies: (root) => [edit(root), { text: "Rounded." }],
    args: ["--approval-mode", "yolo"],
    go: async ({ terminal, text }) => {
      terminal.type("round the totals to whole cents\r");
      await terminal.shows("Rounded.", text("status.keys"));
      terminal.type("/changes\r");
      await terminal.shows(text("changes.title"));
    },
  },
  tasks: {
    replies: () => [
      {
        calls: [
          {
            name: "run_shell_command",
            args: { command: "for n in 1 2 3; do echo request $n; done; sleep 60", is_background: true },
          },
        ],
      },
      { text: "It runs." },
    ],
    args: ["--approval-mode", "yolo"],
    go: async ({ terminal, text }) => {
      terminal.type("start the server\r");
      await terminal.shows("It runs.", text("status.keys"));
      terminal.type("/tasks\r");
      await terminal.shows("› bg_1");
    },
  },
  theme: {
    go: async ({ terminal, text }) => {
      await terminal.shows(text("start.try"));
      terminal.type("/theme\r");
      await terminal.shows(text("theme.title"));
    },
  },
  help: {
    go: async ({ terminal, text }) => {
      await terminal.shows(text("start.try"));
      terminal.type("/help\r");
      await terminal.shows(text("help.title"));
    },
  },
  keys: {
    go: async ({ terminal, text }) => {
      await terminal.shows(text("start.try"));
      terminal.type("?");
      await terminal.shows(text("key.mode"));
    },
  },
  palette: {
    go: async ({ terminal, text }) => {
      await terminal.shows(text("start.try"));
      terminal.type("\u0010");
      await terminal.shows(text("palette.title"));
    },
  },
  settings: {
    go: async ({ terminal, text }) => {
      await terminal.shows(text("start.try"));
      terminal.type("/settings\r");
      await terminal.shows(text("settings.title"), "model.provider");
    },
  },
  context: {
    replies: () => [run("npm test"), { text: "All eight pass." }],
    args: ["--approval-mode", "yolo"],
    go: async ({ terminal, text }) => {
      terminal.type("run the tests\r");
      await terminal.shows("All eight pass.", text("status.keys"));
      terminal.type("/context\r");
      await terminal.shows(text("context.next"));
    },
  },
  resume: {
    replies: () => [{ text: "It adds up a cart." }, { text: "Yes, two." }, { text: "Done." }],
    go: async ({ terminal, text }) => {
      for (const [prompt, said] of [
        ["what does this project do?", "It adds up"],
        ["/clear", ""],
        ["are there tests?", "Yes, two."],
        ["/clear", ""],
        ["write a changelog for the last release, please", "Done."],
        ["/clear", ""],
      ]) {
        terminal.type(`${prompt}\r`);
        await terminal.shows(said ?? "", text("status.keys"));
        await new Promise((resolve) => setTimeout(resolve, 700));
      }
      terminal.type("/resume\r");
      await terminal.shows(text("resume.title"));
    },
  },
  "no-key": {
    replies: () => [refuse(401, { message: "Incorrect API key provided", code: "invalid_api_key" })],
    go: async ({ terminal, text }) => {
      terminal.type("hello\r");
      await terminal.shows(text("keys.paste"), text("status.keys"));
    },
  },
  retry: {
    replies: () => Array(9).fill(refuse(429, { message: "Rate limit reached" }, { "retry-after": "20" })),
    go: async ({ terminal }) => {
      terminal.type("hello\r");
      await terminal.shows("2");
      await new Promise((resolve) => setTimeout(resolve, 4000));
    },
  },
};

/**
 * Makes one screen, and hands what it looks like on.
 * @param {keyof typeof SCENES} name
 * @param {{ columns: number, look: "dark" | "light", text: (key: string) => string, language?: string }} how
 */
export async function makeScreen(name, { columns, look, text, language = "en" }) {
  const scene = SCENES[name];
  if (scene === undefined) throw new Error(`There is no screen ${name}.`);
  const top = mkdtempSync(join(tmpdir(), "burin-picture-"));
  const [root, home] = [join(top, "cart"), join(top, "home")];
  fillFolder(root, FILES);
  fillFolder(join(top, "shop"), { "prices.js": "export const price = 2;\n" });
  fillFolder(home, { ".burin/settings.json": JSON.stringify({ ui: { theme: look, language } }) });
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], {
      cwd: root,
      stdio: "ignore",
    });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "begin");
  writeFileSync(join(root, "notes.md"), "round to cents\n");
  const server = await startFakeModelServer(scene.replies?.(root) ?? []);
  const model =
    scene.hasModel === false
      ? {}
      : { OPENAI_BASE_URL: server.baseUrl, OPENAI_MODEL: "gpt-6-sol", OPENAI_API_KEY: "none" };
  const { args = [] } = scene;
  const terminal = new TerminalPicture({ folder: root, home, columns, rows: ROWS, look, args, env: model });
  try {
    await terminal.shows(scene.hasModel === false ? text("first.title") : "gpt-6-sol · ");
    await scene.go({ terminal, text, root, home });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const page = join(root, PAGE);
    return {
      picture: terminal.picture(`${name}, ${columns} columns, ${look}`),
      page: existsSync(page) ? readFileSync(page, "utf8") : null,
    };
  } finally {
    terminal.close();
    await server.close();
    rmSync(top, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** @param {string} folder @param {Record<string, string>} files */
function fillFolder(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
