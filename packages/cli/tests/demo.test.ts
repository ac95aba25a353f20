import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent, Confirmation, Decision, Session } from "@burin/core";
import { openSession } from "@burin/core/internal";
import { undo } from "@burin/core/sessions";
import { afterEach, describe, expect, it } from "vitest";
import { en } from "../src/locales/en.ts";
import { useTexts } from "../src/locales/say.ts";
import { makeDemo } from "../src/modes/demo/demo-model.ts";
import { FIX, GREETING, SAMPLE, SOURCE } from "../src/modes/demo/demo-project.ts";

type Answer =
  | "yes"
  | "no"
  | "why filter?"
  | "edited well"
  | "edited badly"
  | "first hunk"
  | "last hunk"
  | "esc";
const TO_EDIT: readonly Answer[] = [
  "yes",
  "no",
  "why filter?",
  "edited well",
  "edited badly",
  "first hunk",
  "last hunk",
  "esc",
];
const TO_TEST: readonly Answer[] = ["yes", "no", "why filter?", "esc"];

type Demo = Awaited<ReturnType<typeof makeDemo>>;
let open: { demo: Demo; session: Session }[] = [];

afterEach(async () => {
  await useTexts("en");
  for (const { demo, session } of open) {
    await session.close();
    await rm(demo.top, { recursive: true, force: true });
  }
  open = [];
});

async function decisionOf(answer: Answer, question: Confirmation): Promise<Decision> {
  if (answer === "no") return { outcome: "cancel" };
  if (answer === "why filter?") return { outcome: "cancel", reason: answer };
  if (question.kind !== "edit" || answer === "yes") return { outcome: "once" };
  const { newContent } = question.diff;
  if (answer === "edited well") return { outcome: "edited", content: `// Mine.\n${newContent}` };
  if (answer === "edited badly")
    return { outcome: "edited", content: newContent.replace("words.length", "7") };
  const now = await readFile(question.path, "utf8");
  const [fix = GREETING] = FIX.filter(({ new_string }) => newContent.includes(new_string));
  const { old_string, new_string } = answer === "first hunk" ? fix : GREETING;
  const isThere = newContent.includes(new_string);
  return { outcome: "edited", content: isThere ? now.replace(old_string, new_string) : now };
}

/** The demo with these answers, one after another; the last one is given to every later question. */
async function start(answers: readonly Answer[]) {
  const demo = await makeDemo();
  const left = [...answers];
  let stop = new AbortController();
  const confirm = async (question: Confirmation): Promise<Decision> => {
    const answer = (left.length > 1 ? left.shift() : left[0]) ?? "yes";
    if (answer === "esc") stop.abort();
    return decisionOf(answer === "esc" ? "no" : answer, question);
  };
  const environment = { ...process.env, BURIN_HOME: demo.home };
  const session = openSession({
    root: demo.root,
    model: demo.model,
    confirm,
    environment,
    record: true,
    settings: { sandbox: { mode: "off" } },
  });
  open.push({ demo, session });
  const ask = async (prompt: string) => {
    stop = new AbortController();
    const events: AgentEvent[] = [];
    for await (const event of session.run(prompt, stop.signal)) events.push(event);
    return heardIn(events);
  };
  return { demo, ask };
}

function heardIn(events: readonly AgentEvent[]) {
  const texts = events.flatMap((event) =>
    event.type === "text" && event.role === "model" ? event.text : [],
  );
  const lists = events.flatMap((event) =>
    event.type === "tool_call" && event.call.name === "todo_write" && event.call.status === "success"
      ? [event.call.args.todos as readonly { content: string; status: string }[]]
      : [],
  );
  const ticked = (lists.at(-1) ?? []).filter(({ status }) => status === "completed");
  const end = events.find((event) => event.type === "done");
  return { said: texts.join("\n"), ticked: ticked.map(({ content }) => content), end };
}

/** A text without its values, as a pattern. */
function pattern(key: keyof typeof en): RegExp {
  const escaped = en[key].replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(escaped.replace(/\\\{\w+\\\}/g, "(.*)"));
}

/** What was said is held against the files and against the test, which is run here. */
async function assertTrue({ root }: Demo, { said, ticked, end }: ReturnType<typeof heardIn>): Promise<void> {
  const { status, stdout } = spawnSync(process.execPath, ["test.js"], { cwd: root, encoding: "utf8" });
  const file = await readFile(join(root, SOURCE), "utf8");
  const isFixed = status === 0;
  const passes = pattern("demo.passes").exec(said);
  if (passes) expect([isFixed, stdout]).toEqual([true, expect.stringContaining(passes[1] ?? "?")]);
  const fails = pattern("demo.fails").exec(said);
  if (fails) expect([isFixed, stdout]).toEqual([false, expect.stringContaining(fails[1] ?? "?")]);
  if (ticked.includes("fix it")) expect(isFixed).toBe(true);
  if (pattern("demo.asItWas").test(said)) expect(file).toBe(SAMPLE[SOURCE]);
  if (pattern("demo.notAsItWas").test(said)) expect(file).not.toBe(SAMPLE[SOURCE]);
  if (pattern("demo.whole").test(said) || pattern("demo.part").test(said))
    expect(file).not.toBe(SAMPLE[SOURCE]);
  expect(said).not.toMatch(/\{\w+\}/);
  // It always ends with words, unless the user has stopped it.
  expect([end?.type === "done" && end.status, said]).toEqual([
    expect.stringMatching(/^(?:success|cancelled|refused)$/),
    expect.stringMatching(/\S/),
  ]);
  if (end?.type === "done" && end.status !== "cancelled") {
    const endings = [
      "passes",
      "fails",
      "noResult",
      "notRun",
      "stale",
      "noWay",
      "refused",
      "notMade",
    ] as const;
    expect(endings.some((key) => pattern(`demo.${key}`).test(said))).toBe(true);
  }
}

/** A test is only asked about at once where something of the edit was taken. */
const SEQUENCES = TO_EDIT.flatMap((first): Answer[][] => {
  if (first !== "why filter?") return testsAfter(first, TO_TEST).map((test) => [first, test]);
  return TO_EDIT.flatMap((second) => testsAfter(second, ["yes", "no"]).map((test) => [first, second, test]));
});

function testsAfter(edit: Answer, tests: readonly Answer[]): readonly Answer[] {
  return edit === "no" || edit === "esc" || edit === "why filter?" ? ["yes"] : tests;
}

describe("the demo", () => {
  it.each(SEQUENCES.map((answers) => [answers.join(", "), answers] as const))(
    "P54 says only what is so, now and after a prompt, an undo and another prompt: %s",
    async (_title, answers) => {
      const { demo, ask } = await start(answers);
      await assertTrue(demo, await ask(demo.prompt));
      await assertTrue(demo, await ask("is it fixed now?"));
      const { files } = await undo({ home: demo.home, root: demo.root });
      await assertTrue(demo, await ask("and now?"));
      expect(files.every(({ what }) => what !== "refused")).toBe(true);
    },
  );

  it("P54 follows a no with words: it repeats them, and offers a way without what they ask about", async () => {
    const { demo, ask } = await start(["why filter?", "yes"]);
    const { said, ticked } = await ask(demo.prompt);
    expect(said).toContain("You said: “why filter?”. Here is another way, without filter");
    expect(said).toContain('The test passes: tally("") = 0.');
    expect(ticked).toHaveLength(3);
    const file = await readFile(join(demo.root, SOURCE), "utf8");
    expect(file).toContain("text.match(");
    expect(file).not.toContain("filter");
  });

  it("P54 claims nothing after a no, and knows that an edit was taken back", async () => {
    const { demo, ask } = await start(["no", "yes"]);
    const refused = await ask(demo.prompt);
    expect(refused.said).toContain(
      `You said no. Say what to do instead, and I offer another way. ${SOURCE} is unchanged`,
    );
    expect(refused.ticked).toEqual(["find where words are counted"]);
    expect((await ask("something else")).said).toContain("The test passes");
    await undo({ home: demo.home, root: demo.root });
    expect(await readFile(join(demo.root, SOURCE), "utf8")).toBe(SAMPLE[SOURCE]);
    expect((await ask("what is there now?")).said).toContain("without filter");
  });

  it("P54 says so when there is nothing that it could work on, and when a test was changed under it", async () => {
    const { demo, ask } = await start(["yes"]);
    await writeFile(join(demo.root, "test.js"), "console.log('nothing');\n");
    expect((await ask(demo.prompt)).said).toContain("The test gave no result");
    await rm(join(demo.root, SOURCE));
    expect((await ask("and now?")).said).toContain(`${SOURCE} cannot be read`);
    expect(existsSync(join(demo.root, SOURCE))).toBe(false);
  });

  it.each(["zh", "ja", "fr", "ru"] as const)("P54 speaks the language of the user: %s", async (language) => {
    await useTexts(language);
    const { demo, ask } = await start(["why filter?", "yes"]);
    const { said } = await ask(demo.prompt);
    expect(said).toContain("why filter?");
    expect(said).toContain('tally("") = 0');
    expect(said).not.toMatch(/\b(?:The|You said|I look)\b/);
  });
});
