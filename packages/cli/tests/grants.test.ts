import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { burin, matchFailure } from "./burin.ts";
import { root } from "./project.ts";
import { ScreenTerminal } from "./screen-terminal.ts";

beforeEach(() => {
  mkdirSync(join(root, ".home"));
});

const when = "2026-01-02T03:04:05.000Z";

function store(...grants: { rule: string; project?: string }[]): void {
  writeFileSync(
    join(root, ".home/grants.json"),
    JSON.stringify({ grants: grants.map((one) => ({ ...one, when })) }),
  );
}

const stored = () =>
  JSON.parse(readFileSync(join(root, ".home/grants.json"), "utf8")).grants as { rule: string }[];
const grants = (...words: string[]) => burin(["grants", ...words], { cwd: root });
const TOUCH = "run_shell_command(touch made)";

describe("burin grants", () => {
  it("P22 lists what always has allowed, with its scope and when", async () => {
    expect((await grants()).stdout).toContain("Nothing is granted");
    store({ rule: TOUCH, project: root }, { rule: "edit", project: "/other" }, { rule: "web_fetch" });
    const { code, stdout } = await grants();
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      `  1  ${TOUCH}  (this project, ${root}, 2026-01-02 03:04)`,
      "  2  edit  (project /other, 2026-01-02 03:04)",
      "  3  web_fetch  (everywhere, 2026-01-02 03:04)",
      "",
    ]);
    const there = await burin(["grants"], { cwd: root, env: { TZ: "America/New_York" } });
    expect(there.stdout).toContain("web_fetch  (everywhere, 2026-01-01 22:04)");
    expect(JSON.parse((await grants("--json")).stdout)[2]).toEqual({
      number: 3,
      rule: "web_fetch",
      scope: "everywhere",
      when,
    });
  });

  it("P21 no rule controls the terminal, hides there or looks like another line, also as JSON", async () => {
    const rule = "run_shell_command(ls 'a\n  2  edit\u009d0;title\u009c\u202e\u{e0041}\u2028')";
    store({ rule, project: "/x\n  3  web_fetch" });
    expect((await grants()).stdout.split("\n")).toHaveLength(2);
    const terminal = new ScreenTerminal({ cwd: root, args: ["grants", "--json"] });
    expect(await terminal.ended()).toBe(0);
    expect(terminal.written).not.toMatch(/[\u009c\u009d\u202e\u2028]|\u{e0041}/u);
    expect(JSON.parse(terminal.written)[0]).toMatchObject({ rule });
  });

  it("P22 a call that was granted does not ask, and asks again once that is revoked", async () => {
    store({ rule: TOUCH, project: root });
    const call = () => burin(["call", "run_shell_command", '{"command":"touch made"}'], { cwd: root });
    expect((await call()).code).toBe(0);
    expect(await grants("revoke", "1")).toMatchObject({
      code: 0,
      stdout: `Revoked ${TOUCH} (project ${root}).\n`,
    });
    expect((await call()).code).toBe(3);
    expect(await grants("revoke", TOUCH)).toEqual(matchFailure(2, "nothing is granted"));
  });

  it("P22 processes side by side lose none of each other's changes", async () => {
    const rules = Array.from({ length: 12 }, (_, n) => ({ rule: `tool_${n}` }));
    store(...rules);
    await Promise.all(rules.slice(0, 6).map(({ rule }) => grants("revoke", rule)));
    expect(stored().map(({ rule }) => rule)).toEqual(rules.slice(6).map(({ rule }) => rule));
  });

  it("says how to write it, and that a broken file is left as it is", async () => {
    expect(await grants("add", "edit")).toEqual(matchFailure(2, "burin grants revoke"));
    store({ rule: "edit" });
    expect(await grants("revoke", "7")).toEqual(matchFailure(2, "granted are: edit"));
    writeFileSync(join(root, ".home/grants.json"), "{");
    expect(await grants()).toEqual(matchFailure(2, "left as it is"));
    const asked = await burin(["call", "run_shell_command", '{"command":"touch made"}'], { cwd: root });
    expect(asked).toEqual(matchFailure(3, "grants.json is not valid"));
  });
});
