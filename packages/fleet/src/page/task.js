import {
  act,
  ask,
  button,
  crumbs,
  duration,
  fillState,
  IDLE_MS,
  make,
  moment,
  money,
  number,
  OTHER_STATES,
  POLL_MS,
  place,
  STATES,
  setText,
  tell,
  url,
} from "./parts.js";

const LONG_LINES = 12;
const CALL_STATES = {
  validating: "announced",
  awaiting_approval: "needs an approval",
  executing: "running",
  success: "done",
  error: "failed",
  cancelled: "cancelled",
};

/** The questions of the app, in its words. Others have a title of their own. */
const QUESTIONS = { exec: "Run this command?", edit: "Make this change?", plan: "Carry out this plan?" };
const WARNING = "Warning: ";

/** Shows a task with its transcript, which grows while the task works. */
export class TaskView {
  constructor(id) {
    this.id = id;
    this.path = `/api/tasks/${url(id)}`;
    const dot = id.indexOf(".");
    crumbs([[id.slice(0, dot), `#/run/${url(id.slice(0, dot))}`]]);
    this.state = make("span", { role: "status" });
    this.cancel = button("Cancel", () => act(`${this.path}/cancel`));
    this.retry = button("Retry", () => act(`${this.path}/retry`));
    this.facts = make("p", { class: "soft" });
    this.words = make("p", { class: "words" });
    this.question = make("section", { class: "question", "aria-label": "Question", hidden: true });
    this.log = make("ol", { class: "log", "aria-label": "Transcript" });
    const toggle = () => this.showPatch();
    const summary = make("summary", {}, "All changes");
    this.changes = make("details", { class: "changes", hidden: true, toggle }, summary);
    const name = make("h1", { tabindex: "-1" }, id.slice(dot + 1));
    const actions = make("div", { class: "actions" }, this.retry, this.cancel);
    const head = make("div", { class: "head" }, name, this.state, actions);
    place("main").replaceChildren(head, this.facts, this.words, this.question, this.log, this.changes);
    this.begin();
  }

  begin() {
    this.next = 0;
    this.calls = new Map();
    this.log.replaceChildren();
  }

  async refresh() {
    const task = await ask(`${this.path}?from=${this.next}`);
    if (this.started !== undefined && this.started !== task.started) {
      // The task continues from an earlier point.
      this.started = task.started;
      this.begin();
      return 0;
    }
    this.started = task.started;
    const isOpen = ["queued", "running"].includes(task.kind);
    fillState(this.state, task);
    this.cancel.hidden = !isOpen && task.kind !== "waiting";
    this.retry.hidden = !["failed", "cancelled"].includes(task.kind);
    setText(this.facts, listFacts(task).join(" · "));
    this.fillQuestion(task.kind === "waiting" ? task.question : null);
    this.changes.hidden = !task.hasPatch;
    // The transcript contains neither errors outside of the session nor a prompt that was not started yet.
    setText(this.words, task.kind === "failed" ? task.words : "");
    if (this.next === 0 && task.entries.length === 0) setText(this.words, task.words || task.prompt);
    const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 40;
    for (const entry of task.entries) this.show(entry);
    this.next = task.next;
    if (isOpen && isAtEnd && task.entries.length > 0) scrollTo({ top: document.body.scrollHeight });
    setText(place("live"), "");
    if (task.hasMore) return 0;
    return isOpen ? POLL_MS : IDLE_MS;
  }

  show(entry) {
    const element = drawEntry(entry);
    const before = entry.kind === "call" ? this.calls.get(entry.id) : undefined;
    if (before) before.replaceWith(element);
    else this.log.append(element);
    if (entry.kind === "call") this.calls.set(entry.id, element);
  }

  fillQuestion(question) {
    this.question.hidden = question === null;
    if (question === null) return void delete this.question.dataset.id;
    if (this.question.dataset.id === question.id) return;
    this.question.dataset.id = question.id;
    const { kind, directory, command, prompt, plan, message, args } = question.confirmation;
    const title = QUESTIONS[kind] ?? question.confirmation.title;
    const more = command ?? prompt ?? plan ?? message ?? (args && JSON.stringify(args, null, 2));
    const reason = make("input", { id: "reason", type: "text", autocomplete: "off" });
    const answer = (yes) => () =>
      act(`${this.path}/answer`, { question: question.id, yes, reason: reason.value.trim() });
    const warnings = question.reach.filter((line) => line.startsWith(WARNING));
    const reach = question.reach.filter((line) => !warnings.includes(line));
    this.question.replaceChildren(make("h2", {}, title));
    for (const line of warnings)
      this.question.append(make("p", { class: "warning" }, `⚠ ${line.slice(WARNING.length)}`));
    if (directory) this.question.append(make("p", { class: "soft" }, `in ${directory}`));
    if (more) this.question.append(make("pre", {}, more));
    if (question.change) this.question.append(drawDiff(question.change));
    if (reach.length > 0) this.question.append(make("pre", { class: "soft" }, reach.join("\n")));
    this.question.append(make("p", { class: "soft" }, question.reason));
    const label = make("label", { for: "reason" }, "Words for the model, with no");
    const yes = button("Yes", answer(true), { class: "main" });
    const no = button("No", answer(false));
    this.question.append(make("div", { class: "answers" }, yes, no, label, reason));
    tell(`This task asks: ${title}`, false);
  }

  async showPatch() {
    if (!this.changes.open || this.changes.childElementCount > 1) return;
    const { files } = await ask(`${this.path}/patch`);
    this.changes.append(drawDiff(files));
  }
}

function listFacts({ model, worker, turns, tokens, cost, started, ended, kind, created, check }) {
  const time = kind === "queued" ? `submitted ${moment(created)}` : duration(started, ended);
  const checked = check && `check ${check.passed ? "passed" : "failed"}: ${check.command}`;
  const words = `${number(turns)} ${turns === 1 ? "turn" : "turns"}`;
  const spent = turns > 0 ? [words, `${number(tokens)} tokens`, money(cost)] : [];
  return [time, ...spent, model, worker && `worker ${worker}`, checked].filter(Boolean);
}

function drawEntry(entry) {
  const { kind, text } = entry;
  if (kind === "call") return drawCall(entry);
  const labels = {
    worker: "Worker",
    thought: "Thought",
    note: "Note",
    end: "End",
    said: entry.role === "user" ? "Prompt" : "Model",
  };
  const item = make("li", { class: `${kind} ${entry.role ?? ""}` }, make("h3", {}, labels[kind]));
  if (kind === "end") {
    const state = OTHER_STATES[entry.status] ?? STATES[entry.status] ?? entry.status;
    item.append(make("p", {}, [state, text].filter(Boolean).join(": ")));
  } else if (kind === "said") item.append(...text.split("```").map(drawSaid));
  else item.append(foldable(text, "p"));
  return item;
}

/** Formats a part of a message; every second part is code. */
function drawSaid(part, index) {
  if (index % 2 === 0) return make("p", {}, part.trim());
  return make("pre", {}, part.replace(/^\S*\n/, "").trimEnd());
}

function drawCall({ name, args, status, text, diff }) {
  const state = make("span", { class: `call-state ${status}` }, CALL_STATES[status]);
  const head = make("h3", {}, name, " ", state);
  const item = make("li", { class: "call" }, head, make("code", {}, args));
  if (diff !== undefined) item.append(drawDiff(diff));
  if (text !== "") item.append(foldable(text, "pre", status === "error"));
  return item;
}

function foldable(text, name, isOpen = false) {
  const body = make(name, {}, text.trimEnd());
  const lines = text.trimEnd().split("\n").length;
  if (lines <= LONG_LINES) return body;
  return make("details", { open: isOpen }, make("summary", {}, `${number(lines)} lines`), body);
}

/** Draws changes as the app does: numbers, tinted lines, the changed words brighter, what is left out counted. */
function drawDiff(files) {
  const rows = files.flatMap(({ name, hunks }) => [
    drawFileHead(name, hunks),
    ...hunks.flatMap((hunk, index) => [...(index > 0 ? [drawFold(hunk)] : []), ...drawHunk(hunk)]),
  ]);
  return make("pre", { class: "diff", tabindex: "0" }, ...rows);
}

function drawFileHead(name, hunks) {
  const count = (side, sign) =>
    hunks.flatMap(({ blocks }) => blocks.flatMap((block) => block[side])).filter((line) => line.sign === sign)
      .length;
  const added = make("span", { class: "count good" }, `+${count("added", "+")}`);
  const removed = make("span", { class: "count bad" }, `-${count("removed", "-")}`);
  return make("span", { class: "file" }, `${name}  `, added, " ", removed, "\n");
}

function drawFold({ folded }) {
  const words = `⋯ ${number(folded)} unchanged ${folded === 1 ? "line" : "lines"}\n`;
  return make("span", { class: "hunk" }, folded > 0 ? words : "⋯\n");
}

function drawHunk({ blocks }) {
  return blocks.flatMap(({ removed, added }) =>
    [...removed.filter(({ sign }) => sign !== " "), ...added].map(drawDiffLine),
  );
}

function drawDiffLine({ sign, number: at, text, changed }) {
  const head = make("span", { class: "at" }, `${String(at).padStart(5)} ${sign} `);
  const { from, to } = changed ?? { from: 0, to: 0 };
  const word = from < to ? [make("mark", {}, text.slice(from, to))] : [];
  const kind = { "+": "added", "-": "removed" }[sign] ?? "";
  return make("span", { class: `row ${kind}` }, head, text.slice(0, from), ...word, `${text.slice(to)}\n`);
}
