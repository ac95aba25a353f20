import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  changeSettings,
  describeError,
  findLocalServers,
  guessServices,
  listKeyedServices,
  listModes,
  openLogin,
  reachModel,
  resolveBurinHome,
} from "@burin/core/internal";
import { type ModelChoice, openModel } from "@burin/core/sessions";
import { TEST_PROMPT, TEST_SYSTEM } from "../../commands/words-for-models.ts";
import { say } from "../../locales/say.ts";
import { askChoice, askText } from "../../ui/awaited-panels.ts";
import type { Choice } from "../../ui/choice-list.ts";
import { filterChoices } from "../../ui/choice-panel.ts";
import { makeDemo } from "../demo/demo-model.ts";
import type { Desk } from "./desk.ts";
import { askWhose, formatService, takeKey } from "./key-desk.ts";

/** The services that are offered by name; a pasted key leads to others too. */
const NAMED: readonly string[] = ["openai", "anthropic", "gemini"];

export { canPasteKey, replaceRefusedKey } from "./key-desk.ts";

const MAX_SEARCH_MS = 1000;
const MAX_TEST_MS = 60_000;
const DEMO = "demo";
const OTHER = "other";
const SIGN_IN = "sign-in";
const PASTED = "pasted:";

/** Plays the demo, and says what the user can do next. */
export async function showDemo(desk: Desk): Promise<void> {
  const demo = await makeDemo();
  process.once("exit", () => rmSync(demo.top, { recursive: true, force: true }));
  await desk.host.openDemo(demo);
  const { session } = desk;
  desk.transcript.beginSession(demo.model.name);
  desk.note(say("demo.begin", { root: demo.root }));
  const servers = describeServers();
  await desk.work.submit(demo.prompt);
  if (session === desk.session) desk.note(`${say("demo.turn")} ${await servers}`.trimEnd());
}

/** Names the servers on this machine that have a model, for a user without one: "Ollama (qwen3-coder) is here." */
async function describeServers(): Promise<string> {
  const servers = await findLocalServers(AbortSignal.timeout(MAX_SEARCH_MS)).catch(() => []);
  const found = servers.flatMap(({ name, models: [model] }) =>
    model === undefined ? [] : [say("demo.server", { name, model })],
  );
  return found.join(" ");
}

/** Helps the user to set up a working model and stores the choice: as the first model, or as an additional one. */
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
      const ways = await this.#listWays();
      const find = (typed: string): readonly Choice[] => offerPastedKey(typed) ?? filterChoices(ways, typed);
      const hides = (typed: string): boolean => offerPastedKey(typed) !== null;
      const way = await askChoice(this.#desk, { title: say("first.title"), find, hides });
      if (way === null) {
        if (this.#isFirst) this.#desk.note(say("first.later"));
        return "none";
      }
      if (way === DEMO) return "demo";
      const choice = await this.#chooseService(way);
      if (choice !== null && (await this.#setUp(choice))) return "ready";
    }
  }

  async #listWays(): Promise<Choice[]> {
    const servers = await findLocalServers(AbortSignal.timeout(MAX_SEARCH_MS));
    const local = servers.map(({ name, baseUrl, models }) => ({
      value: baseUrl,
      label: name,
      more: say("first.local", { url: baseUrl, models: models.join(", ") }),
    }));
    const more = say("first.withKey");
    const known = listKeyedServices().filter(({ service }) => NAMED.includes(service));
    return [
      ...local,
      ...known.map(({ service, baseUrl }) => ({ value: baseUrl, label: formatService(service), more })),
      { value: SIGN_IN, label: "OpenRouter", more: say("first.signIn") },
      { value: OTHER, label: say("first.otherLabel"), more: say("first.other") },
      ...(this.#isFirst ? [{ value: DEMO, label: say("first.demoLabel"), more: say("first.demo") }] : []),
    ];
  }

  /** Returns the service with its key, or null if the user goes back. */
  async #chooseService(way: string): Promise<ModelChoice | null> {
    if (way === SIGN_IN) return this.#signIn();
    const key = way.startsWith(PASTED) ? way.slice(PASTED.length) : undefined;
    const service = key === undefined ? undefined : await askWhose(this.#desk, key);
    if (service === null) return null;
    const known = listKeyedServices().find((one) => one.baseUrl === way || one.service === service);
    if (known !== undefined) return this.#withKey({ ...known, name: "" }, key);
    if (way !== OTHER && key === undefined) return { provider: "openai", name: "", baseUrl: way };
    const address = await askText(this.#desk, { title: say("first.urlTitle"), hint: say("first.url") });
    if (address === null || address === "") return null;
    return this.#withKey({ provider: "openai", name: "", baseUrl: addScheme(address) }, key);
  }

  /** Adds the key, which is given or asked for; null when the user goes back. */
  async #withKey(choice: ModelChoice, given?: string): Promise<ModelChoice | null> {
    const { provider, service, name, baseUrl } = choice;
    const isNeeded = listKeyedServices().some((one) => one.baseUrl === baseUrl);
    const hint = say(isNeeded ? "first.key" : "first.keyMaybe");
    const asked = { title: say("first.keyTitle"), hint, isSecret: true };
    const apiKey = given ?? (await askText(this.#desk, asked));
    if (apiKey === null || (isNeeded && apiKey === "")) return null;
    return { provider, service, name, baseUrl, ...(apiKey === "" ? {} : { apiKey }) };
  }

  /** Signs in with a browser on this machine, or with a code from any other machine. */
  async #signIn(): Promise<ModelChoice | null> {
    const service = listKeyedServices().find((one) => one.service === "openrouter");
    if (service === undefined) return null;
    const signIn = await openLogin();
    try {
      const { shortAddress, address } = signIn;
      const hint = say("keys.signIn", { here: shortAddress, anywhere: address });
      const code = await askText(this.#desk, { title: "OpenRouter", hint }, signIn.code);
      return code ? { ...service, name: "", apiKey: await signIn.keyFor(code) } : null;
    } catch (error) {
      this.#desk.note(describeError(error), true);
      return null;
    } finally {
      signIn.close();
    }
  }

  /** Asks for the model, tries it and stores it. Returns false if that failed. */
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
      // Many users leave out the end of the URL, so try `/v1` as well.
      const whole = { ...service, baseUrl: `${service.baseUrl.replace(/\/$/, "")}/v1` };
      const there = await reachModel(whole, new AbortController().signal);
      if ("status" in there && (there.models || there.status === 401)) return this.#setUp(whole);
    }
    const name = await this.#chooseModel(reached.models ?? []);
    if (name === null || name === "") return false;
    const choice = { ...service, name };
    this.#desk.note(say("first.testing", { model: name }));
    const fault = await findReachFault(choice);
    if (fault !== null) {
      this.#desk.note(say("first.failed", { why: fault }), true);
      return false;
    }
    await this.#storeModel(choice);
    return true;
  }

  #chooseModel(models: readonly string[]): Promise<string | null> {
    const title = say("model.title");
    if (models.length === 0) return askText(this.#desk, { title, hint: say("first.name") });
    return askChoice(this.#desk, { title, choices: models.map((value) => ({ value })) });
  }

  async #storeModel({ provider, service: named, name, baseUrl, apiKey }: ModelChoice): Promise<void> {
    const file = join(resolveBurinHome(process.env), "settings.json");
    const known = listKeyedServices().find(
      (one) =>
        one.baseUrl === baseUrl && (named === undefined ? one.provider === provider : one.service === named),
    );
    const { host } = new URL(baseUrl);
    // A key belongs to one host, and the variable of a service to that service.
    const ownVariable =
      known === undefined && apiKey !== undefined
        ? `KEY_OF_${host.toUpperCase().replace(/\W+/g, "_")}`
        : null;
    const alias = this.#desk.settings?.models[name] === undefined ? name : `${host}/${name}`;
    const ownKey = ownVariable === null ? {} : { apiKeyEnv: ownVariable };
    const service = { provider: known?.service ?? provider, baseUrl, ...ownKey };
    if (this.#isFirst) {
      await changeSettings(file, ["model", "provider"], service.provider);
      await changeSettings(file, ["model", "name"], name);
      if (known === undefined) await changeSettings(file, ["model", "baseUrl"], baseUrl);
      if (ownVariable !== null) await changeSettings(file, ["model", "apiKeyEnv"], ownVariable);
    } else await changeSettings(file, ["models", alias], { ...service, model: name });
    this.#desk.note(say("first.kept", { file }));
    const variable = ownVariable ?? known?.variable;
    if (typeof apiKey === "string" && variable !== undefined)
      await takeKey(this.#desk, { variable, host, key: apiKey });
    if (!this.#isFirst) this.#desk.host.useModel(alias, { ...service, model: name });
  }
}

/** Asks once how much may run without a question, and keeps the answer in the user's own settings. */
export async function askMode(desk: Desk): Promise<void> {
  const { approvalMode, managed } = desk.settings ?? {};
  if (approvalMode !== undefined) return;
  const modes = listModes(managed).filter((mode) => mode !== "yolo");
  const choices = modes.map((mode) => ({ value: mode, more: say(`mode.${mode}`) }));
  const mode = await askChoice(desk, { title: say("first.mode"), choices, current: "default" });
  if (mode !== null) await desk.storeSetting(["approvalMode"], mode);
}

/** Offers the only choice if the typed text is a key; the next step asks which service's key it is. */
function offerPastedKey(typed: string): readonly Choice[] | null {
  const key = typed.trim();
  if (guessServices(key).length === 0) return null;
  return [{ value: PASTED + key, label: say("first.pasted"), more: say("first.pastedMore") }];
}

/** Adds the scheme that users leave out. Local and numeric hosts seldom have a certificate, so they get http. */
function addScheme(address: string): string {
  if (address.includes("://")) return address;
  const isNear = /^(?:localhost|[\d.]+|\[[^\]]*\])(?=[:/]|$)/i.test(address);
  return `${isNear ? "http" : "https"}://${address}`;
}

/** Sends one small request. Returns null if the model answers it, otherwise what went wrong. */
async function findReachFault(choice: ModelChoice): Promise<string | null> {
  const history = [{ role: "user" as const, parts: [{ text: TEST_PROMPT }] }];
  const request = { system: TEST_SYSTEM, history, tools: [] };
  for await (const event of openModel(choice).stream(request, AbortSignal.timeout(MAX_TEST_MS))) {
    if (event.type !== "end") continue;
    return event.reason === "error" ? event.error.message : event.reason === "cancelled" ? "timeout" : null;
  }
  return null;
}
