import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { chooseModel, loadSettings } from "@burin/core/internal";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";

let home: string;
let root: string;
let managed: string;

beforeEach(() => {
  const base = createTemporaryFolder();
  home = join(base, "home");
  root = join(base, "project");
  managed = join(base, "managed.json");
  for (const folder of [home, root]) mkdirSync(folder);
});

const load = () => loadSettings({ home, root, managed, environment: {} });
const writeSettings = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value));

describe("R50 the settings of a machine", () => {
  it("forbid what the user's settings allow", async () => {
    writeSettings(join(home, "settings.json"), { permissions: { allow: ["run_shell_command"] } });
    writeSettings(managed, { permissions: { deny: ["run_shell_command(rm)"] } });
    const { settings } = await load();
    const toolbox = createToolbox({
      root,
      settings,
      environment: { BURIN_HOME: home, PATH: process.env.PATH },
    });
    const answer = await toolbox.run("run_shell_command", { command: "rm a" });
    await toolbox.close();
    expect(answer).toMatchObject({
      error: { message: expect.stringContaining("deny run_shell_command(rm)") },
    });
  });

  it("allow some approval modes only, whoever asks for another", async () => {
    writeSettings(managed, { approvalModes: ["plan", "default"] });
    writeSettings(join(home, "settings.json"), { managed: { approvalModes: ["yolo"] } });
    const { settings } = await load();
    expect(() => createToolbox({ root, settings, approvalMode: "yolo" })).toThrow("plan, default");
    await createToolbox({ root, settings }).close();
  });

  it("start in a mode that they allow", async () => {
    writeSettings(managed, { approvalModes: ["plan"] });
    const { settings } = await load();
    const toolbox = createToolbox({ root, settings, environment: { BURIN_HOME: home } });
    const answer = await toolbox.run("write_file", { file_path: join(root, "a"), content: "x" });
    await toolbox.close();
    expect(answer).toMatchObject({ error: { message: expect.stringContaining("plan mode") } });
  });

  it.each([
    ["a key that would loosen", { permissions: { allow: ["edit"] } }],
    ["a misspelled key", { approvalMode: ["plan"] }],
    ["no mode at all", { approvalModes: [] }],
    ["an unknown mode", { approvalModes: ["ask"] }],
    ["a rule that is none", { permissions: { deny: ["a(b"] } }],
  ])("refuse to count halfway: %s", async (_name, value) => {
    writeSettings(managed, value);
    await expect(load()).rejects.toThrow(managed);
  });

  it("are not what a user or project calls so", async () => {
    writeSettings(join(home, "settings.json"), { managed: { file: "x", approvalModes: ["plan"] } });
    expect((await load()).settings.managed).toBeUndefined();
  });
});

describe("R50 the mode of each start", () => {
  it("comes from the user's settings, never from a project's", async () => {
    writeSettings(join(home, "settings.json"), { approvalMode: "plan" });
    expect((await load()).settings.approvalMode).toBe("plan");
    writeSettings(join(home, "settings.json"), {});
    mkdirSync(join(root, ".burin"));
    writeSettings(join(root, ".burin", "settings.json"), { approvalMode: "yolo" });
    expect((await load()).settings.approvalMode).toBeUndefined();
  });
});

describe("R50 the model services of a machine", () => {
  const environment = { OPENAI_API_KEY: "k", MISTRAL_API_KEY: "k" };

  it("are asked, and no other one", async () => {
    writeSettings(managed, { modelHosts: ["api.mistral.ai"] });
    const { settings } = await load();
    const named = (model: object) => ({ ...settings, model: { ...settings.model, ...model } });
    expect(() => chooseModel(named({ provider: "openai" }), environment)).toThrow("api.mistral.ai");
    expect(chooseModel(named({ provider: "mistral" }), environment)).toMatchObject({ service: "mistral" });
    const elsewhere = { provider: "mistral", name: "m", baseUrl: "https://api.mistral.ai.example.org/v1" };
    expect(() => chooseModel(named(elsewhere), environment)).toThrow("example.org");
  });
});
