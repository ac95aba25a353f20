import headless from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { type Row, Screen } from "./screen.ts";

/**
 * A real terminal behind a slow connection: it receives what is written when it is delivered, and may have another size
 * by then.
 */
class SlowTerminal {
  readonly reflows = true;
  sparesCaretLine = false;
  readonly #terminal = new headless.Terminal({
    cols: 80,
    rows: 24,
    scrollback: 20_000,
    allowProposedApi: true,
    convertEol: true,
  });
  #onItsWay: string[] = [];

  write(bytes: string): void {
    this.#onItsWay.push(bytes);
  }

  size(): { columns: number; rows: number } {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Resizes the window after everything that was written has arrived. */
  async drag(columns: number): Promise<void> {
    await this.deliver();
    this.#terminal.resize(columns, this.#terminal.rows);
  }

  async deliver(): Promise<void> {
    const bytes = this.#onItsWay.splice(0).join("");
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
  }

  rows(): string[] {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at));
    return rows.map((row) => row?.translateToString(true).trimEnd() ?? "");
  }

  /** Returns the text on the screen without spaces, because rows are broken at some of them. */
  text(): string {
    return this.rows().join("").replaceAll(" ", "");
  }
}

/** Returns pseudo-random numbers that are the same for each seed. */
function* numbers(seed: number): Generator<number, number> {
  let state = seed;
  for (;;) {
    state = (state * 48271) % 0x7fffffff;
    yield state;
  }
}

function rowsOf(text: string, width: number): Row[] {
  const count = Math.max(Math.ceil(text.length / width), 1);
  const parts = Array.from({ length: count }, (_, at) => text.slice(at * width, (at + 1) * width));
  return parts.map((bytes) => ({ bytes, width: bytes.length }));
}

/** Draws while the window changes before or after each frame, in an order that the seed decides. */
async function drawInStorm(seed: number): Promise<{ said: string; wanted: string[] }> {
  const next = numbers(seed);
  const upTo = (count: number) => next.next().value % count;
  const terminal = new SlowTerminal();
  const screen = new Screen(terminal);
  screen.isMoving = true;
  const wanted: string[] = [];
  for (let step = 0; step < 200; step += 1) {
    if (upTo(2) === 0) terminal.resize(20 + upTo(140), 8 + upTo(40));
    if (upTo(2) === 0) await terminal.deliver();
    const { columns } = terminal.size();
    const final: Row[] = [];
    for (let count = upTo(4); count > 0; count -= 1) {
      const line = `mark${String(wanted.length).padStart(4, "0")} ${"and words ".repeat(upTo(12))}end`;
      wanted.push(line.replaceAll(" ", ""));
      // Leave long lines of code to the terminal to wrap.
      final.push(...rowsOf(line, upTo(3) === 0 ? line.length : columns));
    }
    const tail = `tail ${"that is still written ".repeat(upTo(9))}`.slice(0, columns);
    const live = [tail, "", "> say more", "model and state and keys, all in one line".slice(0, columns)];
    screen.draw(
      final,
      live.flatMap((line) => rowsOf(line, columns)),
      null,
    );
  }
  await terminal.deliver();
  screen.draw([], rowsOf("the end", 20), null);
  await terminal.deliver();
  return { said: terminal.text(), wanted };
}

/** Adds words to the last line of a reply, and sometimes ends the line. */
function moreOf(
  wanted: string[],
  before: string,
  upTo: (count: number) => number,
): { final: string[]; tail: string } {
  const final: string[] = [];
  let tail = before;
  for (let count = upTo(3); count > 0; count -= 1) {
    tail ||= `mark${String(wanted.length).padStart(4, "0")}`;
    tail += " and words".repeat(upTo(5));
    if (upTo(2) === 0 && tail.length < 100) continue;
    wanted.push(tail.slice(0, 8));
    final.push(tail);
    tail = "";
  }
  return { final, tail };
}

/**
 * Streams a reply with and without changes of the window. The seed decides whether a frame reaches the terminal before
 * or after a change, and whether the program learns of the change before or after its next frames.
 */
async function streamInStorms(seed: number, isTyped: boolean): Promise<{ said: string; wanted: string[] }> {
  const next = numbers(seed * 7919);
  const upTo = (count: number) => next.next().value % count;
  const terminal = new SlowTerminal();
  terminal.sparesCaretLine = true;
  const screen = new Screen(terminal);
  const wanted: string[] = [];
  let tail = "";
  let storm = 0;
  let heardAt = 0;
  let restAt = 0;
  for (let step = 0; step < 150; step += 1) {
    if (storm === 0 && upTo(12) === 0) storm = 1 + upTo(5);
    if (upTo(3) > 0) await terminal.deliver();
    if (storm > 0) {
      terminal.resize(30 + upTo(170), 18 + upTo(30));
      storm -= 1;
      heardAt ||= step + 1 + upTo(4);
    }
    if (heardAt === step || !screen.fits) {
      screen.noteResize();
      [heardAt, restAt] = [0, step + 6];
    }
    if (step === restAt) screen.isMoving = false;
    const { columns } = terminal.size();
    const reply = moreOf(wanted, tail, upTo);
    tail = reply.tail;
    const final = reply.final.flatMap((text) => rowsOf(text, upTo(3) === 0 ? text.length : columns));
    const below = [
      "",
      "> words at the prompt",
      "model and state and keys, which fill the whole of most rows. ".repeat(3),
    ];
    const live = [
      ...(tail === "" ? [] : rowsOf(tail, columns)),
      ...below.flatMap((text) => rowsOf(text.slice(0, columns), columns)),
    ];
    const isParked = !isTyped || screen.isMoving;
    screen.draw(final, live, isParked ? null : { row: live.length - 2, column: 5 });
  }
  await terminal.deliver();
  screen.noteResize();
  screen.draw(rowsOf(tail, terminal.size().columns), [], null);
  if (tail !== "") wanted.push(tail.slice(0, 8));
  await terminal.deliver();
  return { said: terminal.text(), wanted };
}

describe("a screen in a window that changes while frames are on their way", () => {
  it.each(Array.from({ length: 40 }, (_, index) => index + 1))(
    "P30 keeps each line once, whole and in its order (storm %i)",
    async (seed) => {
      const { said, wanted } = await drawInStorm(seed);
      expect(said.match(/mark\d{4}(?:andwords)*end/g)).toEqual(wanted);
    },
  );

  it.each(
    Array.from(
      { length: 40 },
      (_, index) => [index % 2 === 0 ? "a hidden caret" : "words at the prompt", index + 1] as const,
    ),
  )(
    "P30 loses and doubles no line, whatever is on its way when the window changes (%s, storms %i)",
    async (kind, seed) => {
      const { said, wanted } = await streamInStorms(seed, kind === "words at the prompt");
      expect(said.match(/mark\d{4}/g)).toEqual(wanted);
      expect(said.match(/thewholeofmost|wordsattheprompt/g)).toBeNull();
    },
  );

  it("P30 keeps rows of full width, wide ones and coloured ones as they are in a terminal that spares the line of its caret", async () => {
    const terminal = new SlowTerminal();
    terminal.sparesCaretLine = true;
    terminal.resize(20, 10);
    const screen = new Screen(terminal);
    const rows: Row[] = [
      { bytes: "\u001b[1m12345678901234567890\u001b[22m", width: 20 },
      { bytes: "", width: 0 },
      { bytes: "\u3042".repeat(10), width: 20 },
      { bytes: "end", width: 3 },
    ];
    screen.draw([], rows, null);
    await terminal.deliver();
    const wanted = ["12345678901234567890", "", "\u3042".repeat(10), "end"];
    expect(terminal.rows().slice(0, 5)).toEqual([...wanted, ""]);
    screen.draw([{ bytes: "first", width: 5 }], rows, { row: 3, column: 3 });
    await terminal.deliver();
    expect(terminal.rows().slice(0, 6)).toEqual(["first", ...wanted, ""]);
    screen.draw([], [...rows.slice(0, 2), { bytes: "short", width: 5 }, { bytes: "e", width: 1 }], {
      row: 0,
      column: 0,
    });
    await terminal.deliver();
    expect(terminal.rows().slice(0, 6)).toEqual(["first", "12345678901234567890", "", "short", "e", ""]);
  });

  it("P30 leaves nothing that was live where it is dragged narrower and wider", async () => {
    const next = numbers(7);
    const terminal = new SlowTerminal();
    terminal.sparesCaretLine = true;
    const screen = new Screen(terminal);
    screen.isMoving = true;
    const wanted: string[] = [];
    for (let step = 0; step < 300; step += 1) {
      if (step % 3 === 0) await terminal.drag([60, 70, 80, 100, 120, 160, 200][next.next().value % 7] ?? 80);
      const { columns } = terminal.size();
      wanted.push(`mark${step}end`);
      const tail = "tail that is still written ".repeat(next.next().value % 9);
      const status = "model, mode, how full the window is and what it has cost so far, and the keys";
      const live = [tail, "", "> say more", status].map((line) => line.slice(0, columns));
      const rows = live.flatMap((line) => rowsOf(line, columns));
      screen.draw(rowsOf(`mark${step} end`, columns), rows, null);
    }
    await terminal.deliver();
    screen.draw([], rowsOf("over", 20), null);
    await terminal.deliver();
    expect(terminal.text()).toBe(`${wanted.join("")}over`);
  });
});
