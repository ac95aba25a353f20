import { join } from "node:path";
import {
  changeSettings,
  chooseModel,
  findKeyVariable,
  findLocalServers,
  reachModel,
  resolveBurinHome,
} from "@burin/core/internal";
import { type ModelChoice, openModel } from "@burin/core/sessions";
import { TEST_PROMPT, TEST_SYSTEM } from "../../commands/words-for-models.ts";
import { say } from "../../locales/say.ts";
import type { Choice } from "../../ui/choice-list.ts";
import { createInputPanel, openChoicePanel } from "../../ui/choice-panel.ts";
import type { Desk } from "./desk.ts";

const SERVICES = [
  { label: "OpenAI", provider: "openai", baseUrl: "https://api.openai.com/v1" },
  { label: "Anthropic", provider: "anthropic", baseUrl: "https://api.anthropic.com" },
  { label: "Gemini", provider: "gemini", baseUrl: "https://generativelanguage.googleapis.com" },
] as const;
const MAX_SEARCH_MS = 1000;
const MAX_TEST_MS = 60_000;
const DEMO = "demo";
const OTHER = "other";

/** Servers on this machine that have a model, for a user without one: "Ollama (qwen3-coder) is here." */
export async function describeServers(): Promise<string> {
  const servers = await findLocalServers(AbortSignal.timeout(MAX_SEARCH_MS)).catch(() => []);
  const found = servers.flatMap(({ name, models: [model] }) =>
    model === undefined ? [] : [say("demo.server", { name, model })],
  );
  return found.join(" ");
}

/** Helps a user to set up a model that answers, and stores the choice: the first one, or one more beside it. */
export class FirstStart {
  readonly #desk: Desk;
  readonly #isFirst: boolean;

  constructor(desk: Desk, isFirst: boolean) {
    this.#desk = desk;
    this.#isFirst = isFirst;
  }

  /** Returns what to do next: start with the new model, show the demo, or nothing. */
  async run(): Promise<"ready" | "demo" | "none"> {
    for (;;) {
      const way = await this.#choose(say("first.title"), await this.#ways());
      if (way === null) {
        if (this.#isFirst) this.#desk.note(say("first.later"));
        return "none";
      }
      if (way === DEMO) return "demo";
      const choice = await this.#serviceOf(way);
      if (choice !== null && (await this.#setUp(choice))) return "ready";
    }
  }

  async #ways(): Promise<Choice[]> {
    const servers = await findLocalServers(AbortSignal.timeout(MAX_SEARCH_MS));
    const local = servers.map(({ name, baseUrl, models }) => ({
      value: baseUrl,
      label: name,
      more: say("first.local", { url: baseUrl, models: models.join(", ") }),
    }));
    const more = say("first.withKey");
    const known = SERVICES.map(({ label, baseUrl }) => ({ value: baseUrl, label, more }));
    return [
      ...local,
      ...known,
      { value: OTHER, label: say("first.otherLabel"), more: say("first.other") },
      ...(this.#isFirst ? [{ value: DEMO, label: say("first.demoLabel"), more: say("first.demo") }] : []),
    ];
  }

  /** The service with its key; null when the user goes back. */
  async #serviceOf(way: string): Promise<ModelChoice | null> {
    const known = SERVICES.find(({ baseUrl }) => baseUrl === way);
    if (known !== undefined) return this.#withKey({ provider: known.provider, baseUrl: way, name: "" });
    if (way !== OTHER) return { provider: "openai", name: "", baseUrl: way };
    const address = await this.#ask({ title: say("first.urlTitle"), hint: say("first.url") });
    if (address === null || address === "") return null;
    return this.#withKey({ provider: "openai", name: "", baseUrl: addScheme(address) });
  }

  /** The same with the key that is asked for; null when the user goes back. */
  async #withKey({ provider, name, baseUrl }: ModelChoice): Promise<ModelChoice | null> {
    const isNeeded = SERVICES.some((service) => service.baseUrl === baseUrl);
    const hint = say(isNeeded ? "first.key" : "first.keyMaybe");
    const apiKey = await this.#ask({ title: say("first.keyTitle"), hint, isSecret: true });
    if (apiKey === null || (isNeeded && apiKey === "")) return null;
    return { provider, name, baseUrl, ...(apiKey === "" ? {} : { apiKey }) };
  }

  /** Asks for the model, tries it and stores it; false when that failed. */
  async #setUp(service: ModelChoice): Promise<boolean> {
    const reached = await reachModel(service, new AbortController().signal);
    if ("fault" in reached) {
      this.#desk.note(say("first.unreachable", { url: service.baseUrl, why: reached.fault }), true);
      return false;
    }
    if (reached.status === 401 || reached.status === 403) {
      this.#desk.note(say("first.badKey"), true);
      const again = await this.#withKey(service);
      return again !== null && this.#setUp(again);
    }
    if (!reached.models && new URL(service.baseUrl).pathname === "/") {
      // Many leave out the end of an address.
      const whole = { ...service, baseUrl: `${service.baseUrl.replace(/\/$/, "")}/v1` };
      const there = await reachModel(whole, new AbortController().signal);
      if ("status" in there && (there.models || there.status === 401)) return this.#setUp(whole);
    }
    const name = await this.#modelOf(reached.models ?? []);
    if (name === null || name === "") return false;
    const choice = { ...service, name };
    this.#desk.note(say("first.testing", { model: name }));
    const fault = await findReachFault(choice);
    if (fault !== null) {
      this.#desk.note(say("first.failed", { why: fault }), true);
      return false;
    }
    await this.#keep(choice);
    return true;
  }

  #modelOf(models: readonly string[]): Promise<string | null> {
    if (models.length === 0) return this.#ask({ title: say("model.title"), hint: say("first.name") });
    const choices = models.map((value) => ({ value }));
    return this.#choose(say("model.title"), choices);
  }

  async #keep({ provider, name, baseUrl, apiKey }: ModelChoice): Promise<void> {
    const file = join(resolveBurinHome(process.env), "settings.json");
    const isKnown = SERVICES.some((known) => known.provider === provider && known.baseUrl === baseUrl);
    const { host } = new URL(baseUrl);
    // The variable of the service that is asked already keeps its key.
    const ownVariable = this.#isFirst || isKnown ? null : `KEY_OF_${host.toUpperCase().replace(/\W+/g, "_")}`;
    const alias = this.#desk.settings?.models[name] === undefined ? name : `${host}/${name}`;
    const service = { provider, baseUrl, ...(ownVariable === null ? {} : { apiKeyEnv: ownVariable }) };
    if (this.#isFirst) {
      await changeSettings(file, ["model", "provider"], provider);
      await changeSettings(file, ["model", "name"], name);
      if (!isKnown) await changeSettings(file, ["model", "baseUrl"], baseUrl);
    } else await changeSettings(file, ["models", alias], { ...service, model: name });
    this.#desk.note(say("first.kept", { file }));
    if (typeof apiKey === "string") {
      const model = { ...service, name };
      const variable = findKeyVariable(chooseModel({ model }, process.env) ?? model, model);
      process.env[variable] = apiKey;
      // A key in a settings file could be read by everyone who can read the file.
      this.#desk.note(say("first.keyKept", { line: `export ${variable}=…` }));
    }
    if (!this.#isFirst) this.#desk.host.useModel(alias, { ...service, model: name });
  }

  #choose(title: string, choices: readonly Choice[]): Promise<string | null> {
    return new Promise((resolve) => {
      openChoicePanel(this.#desk, { title, choices, chosen: resolve, none: () => resolve(null) });
    });
  }

  #ask(needs: { title: string; hint: string; isSecret?: boolean }): Promise<string | null> {
    return new Promise((resolve) => {
      const done = (text: string | null) => {
        this.#desk.show(null);
        resolve(text);
      };
      this.#desk.show(createInputPanel({ ...needs, done }));
    });
  }
}

/** Completes an address as users write it; local and numeric hosts seldom have a certificate. */
function addScheme(address: string): string {
  if (address.includes("://")) return address;
  const isNear = /^(?:localhost|[\d.]+|\[[^\]]*\])(?=[:/]|$)/i.test(address);
  return `${isNear ? "http" : "https"}://${address}`;
}

/** Sends one small request; null when the model answers it. */
async function findReachFault(choice: ModelChoice): Promise<string | null> {
  const history = [{ role: "user" as const, parts: [{ text: TEST_PROMPT }] }];
  const request = { system: TEST_SYSTEM, history, tools: [] };
  for await (const event of openModel(choice).stream(request, AbortSignal.timeout(MAX_TEST_MS))) {
    if (event.type !== "end") continue;
    return event.reason === "error" ? event.error.message : event.reason === "cancelled" ? "timeout" : null;
  }
  return null;
}
