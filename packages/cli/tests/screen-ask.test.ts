import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { answer, ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({
  "a.txt": "alpha\n",
  "package.json": '{"name":"cart","scripts":{"test":"vitest run"}}\n',
});
const WIDTHS = [50, 80, 120];
const ASKING = {
  calls: [
    {
      name: "ask_user",
      args: {
        questions: [
          {
            question: "Which database should the tests use?",
            choices: [
              { label: "PostgreSQL", description: "as in production" },
              { label: "SQLite", description: "no server is needed" },
            ],
          },
          {
            question: "Which systems must it run on?",
            multiple: true,
            choices: [{ label: "Linux" }, { label: "macOS" }, { label: "Windows" }],
          },
        ],
      },
    },
  ],
};

type Check = readonly [question: string, isYes: boolean];

function expectYes(screen: string, checks: readonly [Check, Check, Check, Check, Check]): void {
  for (const [question, isYes] of checks) expect(isYes, `${screen}: ${question}`).toBe(true);
}

function makeRepository(): void {
  const own = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  const git = (...args: string[]) => execFileSync("git", [...own, ...args], { cwd: room.root });
  git("init", "-q", "-b", "main");
  git("add", "a.txt", "package.json");
  git("commit", "-qm", "begin");
}

describe("the card at the start", () => {
  it.each(WIDTHS)("P30: says where Burin works and what to ask first, in %d columns", async (columns) => {
    makeRepository();
    await writeFile(join(room.root, "a.txt"), "beta\n");
    await writeFile(join(room.root, ".gitignore"), ".home\n.gitignore\n");
    const terminal = await room.open([{ text: "Reviewed." }], { columns });
    await terminal.shows("1 review my changes");
    await terminal.settled();
    const rows = terminal.rows();
    const end = rows.findIndex((row) => row.startsWith("> "));
    const card = rows.slice(0, end);
    expectYes("start", [
      ["it has at most eight lines", card.length <= 8],
      ["nothing is wider than the window", rows.every((row) => row.length <= columns)],
      ["the branch and its changes are there", card.some((row) => row.includes("main · 1 file changed"))],
      ["the mode is in words", card.some((row) => row.includes("asks before changes"))],
      ["it says what to ask", card.some((row) => row.includes("1 review my changes"))],
    ]);
    await expect(card.join("\n").replaceAll(room.root, "ROOT")).toMatchFileSnapshot(
      `goldens/start-${columns}.txt`,
    );
    await terminal.enter("1\r", "Reviewed.");
    expect(terminal.text()).toMatch(/^> review my changes$/m);
  });

  it("P30: keeps the prompt in its row while facts come, and is one row in a low window", async () => {
    const terminal = await room.open([]);
    await terminal.shows("explain this project");
    await terminal.settled();
    expect(terminal.rows().findIndex((row) => row.startsWith("> "))).toBe(6);
    const low = await room.start({ rows: 12 });
    await low.settled();
    expect(low.rows().findIndex((row) => row.startsWith("> "))).toBe(2);
  });

  it("P30: leaves a number alone that comes later", async () => {
    const terminal = await room.open([{ text: "First." }, { text: "Second." }]);
    await terminal.enter("hello\r", "First.", "? for keys");
    await terminal.enter("1\r", "Second.");
    expect(terminal.text()).toMatch(/^> 1$/m);
  });
});

describe("what the model asks", () => {
  it.each(WIDTHS)("P47: is one panel with choices and words of one's own, in %d columns", async (columns) => {
    const terminal = await room.open([ASKING, { text: "Thanks." }], { columns });
    await terminal.enter("go\r", "The model asks 1/2", "2 ( ) SQLite");
    await terminal.settled();
    const panelOf = (rows: readonly string[]) =>
      rows.slice(
        rows.findLastIndex((row) => /^─+$/.test(row)) + 1,
        rows.findLastIndex((row) => row.includes("fake-model · ")),
      );
    const first = panelOf(terminal.rows());
    expectYes("ask", [
      ["nothing is wider than the window", terminal.rows().every((row) => row.length <= columns)],
      [
        "the question is the first line",
        first.filter((row) => row !== "")[1]?.startsWith(" Which database") === true,
      ],
      ["each choice has a row with its number", first.some((row) => /^ › 1 \( \) PostgreSQL/.test(row))],
      ["other words are possible", first.some((row) => row.includes("In your own words:"))],
      [
        "it says how to go on without an answer",
        first.join(" ").replace(/ +/g, " ").includes("without an answer"),
      ],
    ]);
    await answer(terminal, "2", "PostgreSQL  as");
    await terminal.shows("The model asks 2/2");
    const second = panelOf(terminal.rows());
    await expect([...first, "", ...second].join("\n").trimEnd()).toMatchFileSnapshot(
      `goldens/ask-${columns}.txt`,
    );
    terminal.type("1");
    await terminal.shows("1 [x] Linux");
    terminal.type("and BSD");
    await terminal.shows("> and BSD");
    await terminal.enter("\r", "Thanks.");
    const sent = JSON.stringify(room.server.requests.at(-1)?.body);
    expect(sent).toContain("SQLite");
    expect(sent).toContain("Linux; in their own words: and BSD");
    expect(terminal.text()).toContain("SQLite · Linux, and BSD");
  });

  it("P47: can be left without an answer, and the model goes on", async () => {
    const terminal = await room.open([ASKING, { text: "Thanks." }]);
    await terminal.enter("go\r", "The model asks 1/2");
    await answer(terminal, "\u001b", "The model asks");
    await terminal.shows("Thanks.");
    expect(JSON.stringify(room.server.requests.at(-1)?.body)).toContain("left the questions unanswered");
  });

  it("P44: is parked in a run without a screen, and answered in words", async () => {
    await room.serve([ASKING, { text: "Thanks." }]);
    const env = {
      BURIN_HOME: join(room.root, ".home"),
      OPENAI_BASE_URL: room.server.baseUrl,
      OPENAI_MODEL: "fake-model",
    };
    const run = await burin(["-p", "go", "--park", "--output-format", "json"], { cwd: room.root, env });
    const { sessionId } = JSON.parse(run.stdout);
    const shown = await burin(["sessions", "show", sessionId], { cwd: room.root, env });
    expect(shown.stdout).toContain("1 PostgreSQL: as in production");
    const tooMany = await burin(["sessions", "answer", sessionId, "a", "b", "c"], { cwd: room.root, env });
    expect(tooMany.stderr).toContain("the model asks 2 question(s)");
    const end = await burin(["sessions", "answer", sessionId, "sqlite", "1,3"], { cwd: room.root, env });
    expect(end.stdout).toContain("Thanks.");
    expect(JSON.stringify(room.server.requests.at(-1)?.body)).toContain("Linux; Windows");
  });

  it("P44: is not offered to a model in a run where nobody can answer", async () => {
    await room.serve([{ text: "Done." }]);
    const env = {
      BURIN_HOME: join(room.root, ".home"),
      OPENAI_BASE_URL: room.server.baseUrl,
      OPENAI_MODEL: "fake-model",
    };
    await burin(["-p", "go"], { cwd: room.root, env });
    expect(JSON.stringify(room.server.requests[0]?.body)).not.toContain("ask_user");
  });
});

describe("/export as a page", () => {
  it("P30: renders Markdown and changes, folds calls, and says nothing of its own in the user's words", async () => {
    makeRepository();
    const edit = {
      name: "edit",
      args: { file_path: join(room.root, "a.txt"), old_string: "alpha", new_string: "a <b>" },
    };
    const said =
      "## How\n\n- one **bold** thing\n\n| a | b |\n|---|--:|\n| x | 12 |\n\n```js\nconst a = 1;\n```\n<script>alert(1)</script> [x](javascript:alert(1))";
    const terminal = await room.open([{ calls: [edit] }, { text: said }], {
      args: ["--approval-mode", "auto-edit"],
    });
    await terminal.enter("change it & say how\r", "How", "? for keys");
    await terminal.enter("/export talk.html\r", "Written: ");
    const page = await readFile(join(room.root, "talk.html"), "utf8");
    for (const part of [
      "<title>change it &amp; say how</title>",
      "<h3>How</h3>",
      '<li>one <span class="strong">bold</span> thing',
      '<td class="right">12</td>',
      '<span class="keyword">const</span>',
      "<details",
      "prefers-color-scheme:dark",
      '<span class="row is-removed">1 - ',
      '<span class="row is-added">1 + ',
    ])
      expect(page).toContain(part);
    expect(page).not.toContain("Not committed when");
    expect(page).not.toMatch(/ {30}/);
    expect(page).not.toContain("<script");
    expect(page).not.toContain('href="javascript');
    expect(page.match(/(?:src|href)=/g) ?? []).toEqual([]);
    await terminal.enter("/export talk.md\r", /Written: .*talk\.md/);
    const text = await readFile(join(room.root, "talk.md"), "utf8");
    expect(text).toContain("> change it & say how");
    expect(text).not.toContain("Not committed when");
  });
});
