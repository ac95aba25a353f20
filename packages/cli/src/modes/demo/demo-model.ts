import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Part } from "@burin/core";
import { readText, withFallback } from "@burin/core/internal";
import { type ChatModel, type Message, type ScriptLine, scriptedModel } from "@burin/core/sessions";
import type { en } from "../../locales/en.ts";
import { say } from "../../locales/say.ts";
import { shortenLine } from "../../terminal/output.ts";
import { type DemoFolder, FIX, GREETING, SAMPLE, SOURCE, TEST_COMMAND } from "./demo-project.ts";

const MAX_BYTES = 1024 * 1024;
const LONGEST_QUOTE = 80;

type ScriptedCall = NonNullable<ScriptLine["calls"]>[number];
type Key = Extract<keyof typeof en, `demo.${string}`>;

/** The result of one call, as recorded in the history. */
interface Outcome {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly isDone: boolean;
  readonly text: string;
  /** Set if the user refused the call: the reason they gave, which may be empty. */
  readonly refusal?: string | undefined;
}

interface DemoProgress {
  /** The user's words in the last message, if there are any. */
  readonly words: string | null;
  /** The calls of the last reply. */
  readonly last: readonly Outcome[];
  /** All calls so far. */
  readonly all: readonly Outcome[];
  readonly isFirst: boolean;
}

/** A run of the test, and the state of the file that it tested. */
interface TestRun {
  readonly call: Outcome;
  readonly tested: string;
}

export type Demo = Awaited<ReturnType<typeof makeDemo>>;

/** Creates a small project in a temporary folder, a separate home beside it, and a model that works on the project. */
export async function makeDemo() {
  const top = await realpath(await mkdtemp(join(tmpdir(), "burin-demo-")));
  const [root, home] = [join(top, "tally"), join(top, "home")];
  await mkdir(home);
  for (const [name, text] of Object.entries(SAMPLE)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return { top, root, home, model: createDemoModel(root), prompt: say("demo.task") };
}

/**
 * A scripted model that works on the demo's project. The files, the test's result and the user's answers decide what it
 * does and says next, never the number of steps so far.
 */
function createDemoModel(root: string): ChatModel {
  let run: TestRun | null = null;
  const stream: ChatModel["stream"] = (request, signal) => {
    const told = readHistory(request.history);
    const tested = told.last.find(({ name }) => name === "run_shell_command");
    if (tested !== undefined) run = { call: tested, tested: buildDemoFile(root).print };
    return scriptedModel([buildNextReply(root, told, run)]).stream(request, signal);
  };
  return { name: "demo", stream };
}

function buildNextReply(root: string, told: DemoProgress, run: TestRun | null): ScriptLine {
  const file = buildDemoFile(root);
  const names = told.last.map(({ name }) => name);
  const edit = told.last.find(({ name }) => name === "edit");
  if (file.text === null) return { text: say("demo.gone", { file: SOURCE }) };
  if (edit !== undefined) return replyAfterEdit(root, told, edit);
  if (names.includes("run_shell_command")) return { calls: [buildTodoCall(file, run)] };
  if (names.includes("read_file"))
    return file.isFixPending ? buildProposal(root, told) : buildTestCall(root, "demo.differs");
  if (told.last.length > 0) return buildConclusion(file, run);
  const words = shortenLine(told.words ?? "", LONGEST_QUOTE);
  return {
    text: told.isFirst ? say("demo.look") : say("demo.lookAgain", { words }),
    calls: [
      { name: "search_file_content", args: { pattern: "split\\(", include: "*.js" } },
      { name: "read_file", args: { absolute_path: join(root, SOURCE) } },
    ],
  };
}

/** Offers the next fix. A fix that the user refused is not offered again. */
function buildProposal(root: string, told: DemoProgress): ScriptLine {
  const refused = told.all.filter(({ name, refusal }) => name === "edit" && refusal !== undefined);
  const said = quoteRefusal(told.last.find(({ name }) => name === "edit"));
  const file = buildDemoFile(root);
  const way = FIX[refused.length];
  if (way === undefined) return { text: `${said}${say("demo.noWay")} ${describeSampleState(file)}` };
  const places = [way, ...(refused.length === 0 ? [GREETING] : [])].filter((place) =>
    file.containsOldText(place),
  );
  const edits = places.map(({ old_string, new_string }) => ({ old_string, new_string }));
  return {
    text: refused.length === 0 ? say("demo.propose") : `${said}${say("demo.otherWay")}`,
    calls: [buildTodoCall(file, null), { name: "edit", args: { file_path: join(root, SOURCE), edits } }],
  };
}

function replyAfterEdit(root: string, told: DemoProgress, edit: Outcome): ScriptLine {
  const file = buildDemoFile(root);
  if (edit.refusal !== undefined) {
    // If the user gave a reason, offer another fix; after a plain no, stop.
    return edit.refusal === ""
      ? { text: `${say("demo.refused")} ${describeSampleState(file)}` }
      : buildProposal(root, told);
  }
  if (!edit.isDone) return { text: say("demo.notMade", { why: shortenLine(edit.text, LONGEST_QUOTE * 2) }) };
  if (file.text === SAMPLE[SOURCE]) return buildTestCall(root, "demo.asItWas");
  const edits = (edit.args.edits ?? []) as readonly DemoFolder[];
  const isWhole = edits.every(({ new_string }) => file.text?.includes(new_string));
  return buildTestCall(root, isWhole ? "demo.whole" : "demo.part");
}

function buildTestCall(root: string, key: Key): ScriptLine {
  const calls = [
    buildTodoCall(buildDemoFile(root), null),
    { name: "run_shell_command", args: { command: TEST_COMMAND } },
  ];
  return { text: say(key, { file: SOURCE }), calls };
}

/** Returns the closing message, which depends on the test run and on the file. */
function buildConclusion(file: DemoFile, run: TestRun | null): ScriptLine {
  if (run === null || run.call.refusal !== undefined)
    return { text: `${quoteRefusal(run?.call)}${say("demo.notRun")}` };
  if (run.tested !== file.print) return { text: say("demo.stale", { file: SOURCE }) };
  const { isPassed, result } = readTestResult(run.call);
  if (result === "") return { text: say("demo.noResult") };
  return { text: say(isPassed ? "demo.passes" : "demo.fails", { result }) };
}

/** Returns the first failed line of the test's output, or its first line if none failed. */
function readTestResult({ isDone, text }: Outcome): { readonly isPassed: boolean; readonly result: string } {
  const lines = text.match(/^(?:ok|FAIL) {2}.+$/gm) ?? [];
  const wrong = lines.find((line) => line.startsWith("FAIL"));
  const result = (wrong ?? lines[0] ?? "").replace(/^\w+ +/, "");
  return { isPassed: isDone && wrong === undefined && /^Exit code: 0\b/m.test(text), result };
}

/** Quotes the reason that the user gave for a no, to precede what follows from it. */
function quoteRefusal(call: Outcome | undefined): string {
  return call?.refusal ? `${say("demo.said", { words: shortenLine(call.refusal, LONGEST_QUOTE) })} ` : "";
}

function describeSampleState({ text }: DemoFile): string {
  return say(text === SAMPLE[SOURCE] ? "demo.asItWas" : "demo.notAsItWas", { file: SOURCE });
}

/** Builds the todo list. Steps are ticked from evidence: the test ran on exactly this file, and it passed. */
function buildTodoCall(file: DemoFile, run: TestRun | null): ScriptedCall {
  const found = run === null || run.tested !== file.print ? null : readTestResult(run.call);
  const steps = [
    [say("demo.stepFind"), true],
    [say("demo.stepFix"), found?.isPassed ?? false],
    [say("demo.stepTry"), found !== null && found.result !== ""],
  ] as const;
  const current = steps.findIndex(([, isDone]) => !isDone);
  const list = steps.map(([content, isDone], index) => ({
    id: `${index + 1}`,
    content,
    status: isDone ? "completed" : index === current ? "in_progress" : "pending",
  }));
  return { name: "todo_write", args: { todos: list } };
}

interface DemoFile {
  /** null if the file cannot be read. */
  readonly text: string | null;
  readonly print: string;
  /** The code with the mistake is still unchanged. */
  readonly isFixPending: boolean;
  containsOldText(place: DemoFolder): boolean;
}

function buildDemoFile(root: string): DemoFile {
  const text = withFallback(null, () => readText(join(root, SOURCE), MAX_BYTES));
  const has = ({ old_string }: DemoFolder): boolean => text?.includes(old_string) ?? false;
  return {
    text,
    print: createHash("sha256")
      .update(text ?? "")
      .digest("hex"),
    isFixPending: FIX.some(has),
    containsOldText: has,
  };
}

/** Reads the state from the history: the words of the last message, and the result of each call. */
function readHistory(history: readonly Message[]): DemoProgress {
  const all: Outcome[] = [];
  const answers = new Map(
    history.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse: answer }) =>
        answer ? [[answer.id, answer.response] as const] : [],
      ),
    ),
  );
  for (const { parts } of history) for (const part of parts) all.push(...readOutcomes(part, answers));
  const reply = history.findLast(({ role }) => role === "model");
  const last = reply?.parts.flatMap((part) => readOutcomes(part, answers)) ?? [];
  const now = history.at(-1);
  const said = now?.role === "user" ? now.parts.flatMap(({ text }) => text ?? []).at(-1) : undefined;
  const isPrompt = said !== undefined && !now?.parts.some((part) => part.functionResponse);
  const words = said === undefined ? null : said.replace(/^Prompt:\s+/, "");
  return { words, last: isPrompt ? [] : last, all, isFirst: reply === undefined };
}

function readOutcomes({ functionCall: call }: Part, answers: ReadonlyMap<unknown, unknown>): Outcome[] {
  if (!call) return [];
  const { output, error } = (answers.get(call.id) ?? {}) as { output?: unknown; error?: unknown };
  const text = String(output ?? error ?? "");
  const [isRefused, words] =
    /cancelled by user(?:: ([\s\S]*))?\.$/.exec(error === undefined ? "" : text) ?? [];
  const refusal = isRefused === undefined ? undefined : (words ?? "").replace(/\.$/, "").trim();
  return [{ name: call.name ?? "", args: call.args ?? {}, isDone: error === undefined, text, refusal }];
}
