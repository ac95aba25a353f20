import { describe, expect, it } from "vitest";
import { joinSpans } from "../terminal/styled-line.ts";
import { drawStatusLine, type Status } from "./status-line.ts";

const STATUS: Status = {
  model: "gpt-6-sol",
  mode: "default",
  branch: "main",
  filled: 0.12,
  money: 0.024,
  queued: 2,
  milliseconds: 65_000,
};

function lineOf(status: Status, width: number): string {
  return joinSpans(drawStatusLine(status, false, width)).trim();
}

describe("the last line of the screen", () => {
  it.each([
    [
      "all there is",
      120,
      "gpt-6-sol · asks before changes · main · 12% context · $0.024 · 2 queued · 1 m 5 s  ? for keys",
    ],
    ["no time", 90, "gpt-6-sol · asks before changes · main · 12% context · $0.024 · 2 queued  ? for keys"],
    ["no branch", 82, "gpt-6-sol · asks before changes · 12% context · $0.024 · 2 queued  ? for keys"],
    ["the model, the mode and what waits", 58, "gpt-6-sol · asks before changes · 2 queued  ? for keys"],
    ["the name of the mode", 35, "gpt-6-sol · default  ? for keys"],
  ])("P30 says in a window of its width what matters most: %s", (_what, width, wanted) => {
    expect(lineOf(STATUS, width)).toBe(wanted);
    expect(lineOf(STATUS, width).length).toBeLessThan(width - 2);
  });

  it("P30 says nothing of a mode where no model is set", () => {
    expect(lineOf({ model: "", mode: "default" }, 80)).toBe("? for keys");
  });

  it("P30 stands below the rows of a panel, which begin in the second cell", () => {
    const begin = (isWorking: boolean) =>
      joinSpans(drawStatusLine({ ...STATUS, isWorking }, true, 120)).slice(0, 6);
    expect([begin(false), begin(true)]).toEqual([" gpt-6", " ◐ gpt"]);
  });

  it("P30 has what the user's own command printed in place of all that, and the keys beside it", () => {
    expect(lineOf({ ...STATUS, own: "mine: main*" }, 80)).toBe("mine: main*  ? for keys");
  });
});
