import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n" }, { columns: 100, rows: 34 });

function written(): Promise<string> {
  return readFile(join(room.root, ".home/settings.json"), "utf8");
}

describe("/settings", () => {
  it("P54 shows each setting with its sentence, and changes one of the screen at once", async () => {
    await room.set('{\n  // mine\n  "ui": { "theme": "dark" }\n}\n');
    const terminal = await room.open();
    await terminal.enter("/settings\r", "Settings, kept in", "Models by names of your own");
    await terminal.enter("language", "› ui.language", "Default: the language of the locale.");
    await terminal.enter("\r", "back to the default");
    await terminal.enter("fr\r", "Réglages, enregistrés dans", "› ui.language", /ui\.language +fr/);
    await terminal.enter("\u001b", "ui.language\u00a0: fr", "? pour les touches");
    expect(await written()).toMatch(/\/\/ mine[\s\S]*"language": "fr"/);
    await terminal.enter("/settings\r", "Réglages");
    await terminal.enter("ui.language", "› ui.language");
    await terminal.enter("\r", "revenir à la valeur par défaut");
    await terminal.enter("revenir\r", "Settings, kept in");
    expect(await written()).not.toContain("language");
  });

  it("P54 shows what another command has just stored", async () => {
    const terminal = await room.open();
    await terminal.enter("/theme light\r");
    await expect.poll(() => written().catch(() => ""), { timeout: 20_000 }).toContain("light");
    await terminal.enter("/settings\r", "Settings, kept in");
    await terminal.enter("ui.theme", /› ui\.theme +light/);
  });

  it("P54 takes no value that the schema refuses, says why, and keeps what was there", async () => {
    const terminal = await room.open();
    await terminal.enter("/settings\r", "Settings, kept in");
    await terminal.enter("timeoutSec", /› model\.timeoutSeconds +600\n/);
    await terminal.enter("\r", "Write a number");
    await terminal.enter("soon\r", "must be a number, got string");
    await terminal.enter("\u0015".repeat(2));
    await terminal.enter("90\r", "Settings, kept in", /model\.timeoutSeconds +90/);
    await terminal.enter("\u001b", "model.timeoutSeconds: 90, from the next session on");
    expect(JSON.parse(await written())).toEqual({ model: { timeoutSeconds: 90 } });
  });

  it("P54 says where another settings file has the last word", async () => {
    const file = join(room.root, "more.json");
    const { writeFile } = await import("node:fs/promises");
    await writeFile(file, '{ "loop": { "detection": false } }');
    const terminal = await room.open([], { args: ["--settings", file] });
    await terminal.enter("/settings\r", "Settings, kept in");
    await terminal.enter("loop.det", /› loop\.detection +false/);
    await terminal.enter("\r", "back to the default");
    await terminal.enter("true\r", "Settings, kept in");
    await terminal.enter(
      "\u001b",
      "loop.detection is written, but another settings file or an option says false",
    );
  });
});
