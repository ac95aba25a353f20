import headless from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { type Row, Screen } from "./screen.ts";

/** A real terminal behind a slow line: what is written comes to it when it is delivered, and it may be another size by then. */
class SlowTerminal {
  readonly reflows = true;
  movesCaret = false;
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

  /** A window that is dragged after all that was written has come. */
  async drag(columns: number): Promise<void> {
    await this.deliver();
    this.#terminal.resize(columns, this.#terminal.rows);
  }

  async deliver(): Promise<void> {
    const bytes = this.#onItsWay.splice(0).join("");
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
  }

  /** What was said, without spaces: rows are broken at some of them. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at));
    return rows.map((row) => row?.translateToString(true).replaceAll(" ", "") ?? "").join("");
  }
}

/** Numbers without luck. */
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

/** The program draws, and the window changes before or behind it, in whatever order these numbers say. */
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
      final.push(...rowsOf(line, columns));
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

describe("a screen in a window that changes while frames are on their way", () => {
  it.each(Array.from({ length: 40 }, (_, index) => index + 1))(
    "P30 keeps each line once, whole and in its order (storm %i)",
    async (seed) => {
      const { said, wanted } = await drawInStorm(seed);
      expect(said.match(/mark\d{4}(?:andwords)*end/g)).toEqual(wanted);
    },
  );

  it("P30 leaves nothing that was live where it is dragged narrower and wider", async () => {
    const next = numbers(7);
    const terminal = new SlowTerminal();
    terminal.movesCaret = true;
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
