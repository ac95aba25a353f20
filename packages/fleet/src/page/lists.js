// The list of runs, and the list of one run's tasks.
import {
  act,
  ask,
  button,
  crumbs,
  duration,
  fillState,
  make,
  moment,
  money,
  number,
  POLL_MS,
  place,
  STATES,
  setText,
  showLive,
  url,
} from "./parts.js";

/** Shows how many of a run's tasks are in each state, as a bar and as text. */
function fillProgress(cell, run) {
  if (cell.childElementCount === 0) {
    const bar = make("div", { class: "bar", "aria-hidden": "true" });
    bar.append(
      ...["success", "failed", "cancelled", "waiting", "running"].map((kind) => make("i", { class: kind })),
    );
    cell.append(bar, make("span", { class: "soft" }));
  }
  for (const part of cell.querySelectorAll("i"))
    part.style.width = `${(100 * run[part.className]) / run.tasks}%`;
  const words = Object.entries(STATES).filter(([kind]) => run[kind] > 0);
  const text = words.map(([kind, word]) => `${number(run[kind])} ${word.toLowerCase()}`).join(" · ");
  setText(cell.querySelector("span"), text);
}

/** A table that reuses a row's elements as long as the row shows the same thing. */
class Table {
  constructor(label, columns) {
    this.columns = columns;
    this.rows = new Map();
    this.body = make("tbody");
    const heads = columns.map(({ title, class: name = "" }) =>
      make("th", { scope: "col", class: name }, title),
    );
    const head = make("thead", {}, make("tr", {}, ...heads));
    this.element = make("table", {}, make("caption", { class: "unseen" }, label), head, this.body);
  }

  fill(rows, keyOf) {
    const before = this.rows;
    this.rows = new Map(rows.map((row) => [keyOf(row), before.get(keyOf(row)) ?? this.newRow()]));
    rows.forEach((row, index) => {
      const element = this.rows.get(keyOf(row));
      if (this.body.children[index] !== element)
        this.body.insertBefore(element, this.body.children[index] ?? null);
      for (const [column, { fill }] of this.columns.entries()) fill(element.children[column], row);
    });
    while (this.body.childElementCount > rows.length) this.body.lastElementChild.remove();
  }

  newRow() {
    const cells = this.columns.map(({ class: name = "" }, index) =>
      make(index === 0 ? "th" : "td", index === 0 ? { scope: "row", class: name } : { class: name }),
    );
    return make("tr", {}, ...cells);
  }
}

const addChild = (cell, name, kind = "") =>
  cell.firstElementChild ?? cell.appendChild(make(name, { class: kind }));
const textColumn = (title, text, name) => ({
  title,
  class: name,
  fill: (cell, row) => setText(cell, text(row)),
});

/** Shows a row's name, linked to what the row is about, and a line about it. */
function fillName(cell, { href, name, more = "" }) {
  if (cell.childElementCount === 0)
    cell.append(make("a", { href }), make("span", { class: "soft line one" }));
  setText(cell.firstElementChild, name);
  setText(cell.lastElementChild, more);
}

/** A list that the server searches and pages. The URL contains the current page. */
class List {
  constructor({ title, path, table, keyOf, query, onData = () => {} }) {
    Object.assign(this, { path, table, keyOf, query, onData });
    const change = (event) => {
      event.preventDefault();
      this.go({ search: this.search.value.trim(), offset: "" });
    };
    this.search = make("input", { type: "search", id: "search", value: query.get("search") ?? "", change });
    this.head = make("div", { class: "head" }, make("h1", { tabindex: "-1" }, title));
    const label = make("label", { for: "search" }, "Search");
    const form = make("form", { role: "search", submit: change }, label, this.search);
    this.chips = make("div", { class: "chips", role: "group", "aria-label": "State" });
    this.count = make("span", { class: "soft" });
    this.back = button("Previous", () => this.turn(-1));
    this.next = button("Next", () => this.turn(1));
    const pager = make("div", { class: "pager" }, this.count, this.back, this.next);
    const tools = make("div", { class: "tools" }, this.chips, form);
    place("main").replaceChildren(this.head, tools, make("div", { class: "scroll" }, table.element), pager);
  }

  go(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === "") this.query.delete(key);
      else this.query.set(key, value);
    }
    history.replaceState(null, "", `${location.hash.split("?")[0]}?${this.query}`);
    dispatchEvent(new Event("acted"));
  }

  turn(by) {
    this.go({ offset: String(Math.max(0, this.offset + by * this.size)) });
  }

  async refresh() {
    const data = await ask(`${this.path}?${this.query}`);
    const rows = data.tasks ?? data.runs;
    this.size = data.rows;
    this.offset = Number(this.query.get("offset") ?? 0);
    if (rows.length === 0 && this.offset > 0) return this.go({ offset: "" });
    this.table.fill(rows, this.keyOf);
    this.table.element.hidden = rows.length === 0;
    const last = this.offset + rows.length;
    const none =
      this.query.size > 0 ? "Nothing matches." : "There are no runs yet: burin fleet run tasks.jsonl";
    const some = `${number(this.offset + 1)}–${number(last)} of ${number(data.total)}`;
    setText(this.count, rows.length === 0 ? none : some);
    this.back.disabled = this.offset === 0;
    this.next.disabled = last >= data.total;
    this.onData(data, this);
    return POLL_MS;
  }
}

export function runsView(query) {
  const table = new Table("Runs", [
    { title: "Run", fill: (cell, run) => fillName(cell, { href: `#/run/${url(run.name)}`, name: run.name }) },
    { title: "Progress", class: "grow", fill: fillProgress },
    textColumn("Tasks", ({ tasks }) => number(tasks), "number wide"),
    textColumn("Tokens", ({ tokens }) => number(tokens), "number wide"),
    textColumn("Cost", ({ cost }) => money(cost), "number"),
    textColumn("Started", ({ created }) => moment(created), "wide"),
  ]);
  crumbs([]);
  const onData = ({ running, waiting }) => showLive(running, waiting);
  return new List({ title: "Runs", path: "/api/runs", table, keyOf: ({ name }) => name, query, onData });
}

const formatTime = ({ started, ended, kind }) => (kind === "queued" ? "" : duration(started, ended));

export function runView(name, query) {
  const table = new Table(`Tasks of ${name}`, [
    {
      title: "Task",
      class: "grow",
      fill: (cell, { id, prompt }) =>
        fillName(cell, { href: `#/task/${url(id)}`, name: id.slice(name.length + 1), more: prompt }),
    },
    { title: "State", fill: (cell, task) => fillState(addChild(cell, "span"), task) },
    {
      title: "Result",
      class: "grow wide",
      fill: (cell, { words }) => setText(addChild(cell, "div", "line"), words),
    },
    textColumn("Turns", ({ turns }) => number(turns), "number wide"),
    textColumn("Tokens", ({ tokens }) => number(tokens), "number wide"),
    textColumn("Cost", ({ cost }) => money(cost), "number wide"),
    textColumn("Time", formatTime, "number wide"),
  ]);
  crumbs([]);
  const path = `/api/runs/${url(name)}`;
  const list = new List({ title: name, path, table, keyOf: ({ id }) => id, query, onData: fillRun });
  list.sum = make("p", { class: "soft" });
  const cancel = () => confirm(`Cancel all open tasks of ${name}?`) && void act(`${path}/cancel`);
  list.cancel = button("Cancel all", cancel);
  list.retry = button("Retry failed", () => act(`${path}/retry`));
  list.head.append(list.sum, make("div", { class: "actions" }, list.retry, list.cancel));
  return list;
}

function fillRun({ counts }, list) {
  const chosen = list.query.get("state") ?? "";
  if (list.chips.childElementCount === 0) {
    for (const [kind, word] of [["", "All"], ...Object.entries(STATES)]) {
      const show = () => list.go({ state: kind, offset: "" });
      const chip = button(word, show, { "data-kind": kind, class: kind });
      chip.append(make("b"));
      list.chips.append(chip);
    }
  }
  for (const chip of list.chips.children) {
    const { kind } = chip.dataset;
    chip.setAttribute("aria-pressed", String(kind === chosen));
    setText(chip.lastElementChild, number(kind === "" ? counts.tasks : counts[kind]));
  }
  const spent = [`${number(counts.tokens ?? 0)} tokens`, money(counts.cost)].filter(Boolean);
  setText(list.sum, spent.join(" · "));
  list.cancel.disabled = counts.queued + counts.running + counts.waiting === 0;
  list.retry.disabled = counts.failed + counts.cancelled === 0;
  showLive(counts.running, counts.waiting);
}
