import {
  chooseModel,
  describeError,
  findKeyVariable,
  guessServices,
  KeyStore,
  listKeyedServices,
  reachModel,
  resolveBurinHome,
} from "@burin/core/internal";
import { say } from "../../locales/say.ts";
import { askChoice, askText } from "../../ui/awaited-panels.ts";
import type { Desk } from "./desk.ts";

interface GivenKey {
  readonly variable: string;
  readonly host: string;
  readonly key: string;
}

/** Uses a key that works from now on, and keeps it for later starts if the user says so. */
export async function takeKey(desk: Desk, given: GivenKey): Promise<void> {
  process.env[given.variable] = given.key;
  if (canKeepKey(given) && (await offerToKeepKey(desk, given))) return;
  desk.note(say("first.keyKept", { line: `export ${given.variable}=…` }));
}

/** A variable that other hosts would get, too, is not set at each start. */
function canKeepKey({ variable, host }: GivenKey): boolean {
  const known = listKeyedServices().find((one) => one.variable === variable);
  return known === undefined || new URL(known.baseUrl).host === host;
}

async function offerToKeepKey(desk: Desk, { variable, host, key }: GivenKey): Promise<boolean> {
  const store = new KeyStore(resolveBurinHome(process.env), process.env);
  const choices = [
    { value: "keep", label: say("keys.keep"), more: say("keys.keepPlace", { file: store.file }) },
    { value: "", label: say("keys.once") },
  ];
  const title = say("keys.keepTitle", { host });
  if (!(await askChoice(desk, { title, choices }))) return false;
  try {
    const place = await store.storeKey(variable, host, key);
    desk.note(say(place === "keychain" ? "keys.inKeychain" : "keys.inFile", { file: store.file }));
    return true;
  } catch (error) {
    desk.note(say("export.failed", { file: store.file, why: describeError(error) }), true);
    return false;
  }
}

/** Asks which service a pasted key is for; "" for a service that is not in the list, null to go back. */
export function askWhose(desk: Desk, key: string): Promise<string | null> {
  const likely: readonly string[] = guessServices(key);
  const rankService = (service: string): number =>
    likely.includes(service) ? likely.indexOf(service) : likely.length;
  const services = listKeyedServices()
    .map(({ service, baseUrl }) => {
      const { host } = new URL(baseUrl);
      return { value: service, label: formatService(service), more: say("keys.sendTo", { host }) };
    })
    .sort((one, other) => rankService(one.value) - rankService(other.value));
  const other = { value: "", label: say("first.otherLabel"), more: say("first.other") };
  return askChoice(desk, { title: say("keys.whose"), choices: [...services, other] });
}

const NAMES: Readonly<Record<string, string>> = { openai: "OpenAI", openrouter: "OpenRouter", xai: "xAI" };

export function formatService(service: string): string {
  return NAMES[service] ?? service.charAt(0).toUpperCase() + service.slice(1);
}

/**
 * Whether another key can help after the service has refused one: only if the key is in a variable, not from a command
 * or a file.
 */
export function canPasteKey({ settings }: Pick<Desk, "settings">): boolean {
  const choice = settings && chooseModel(settings, process.env);
  return Boolean(choice) && typeof choice?.apiKey !== "function" && choice?.signer === undefined;
}

/** Asks for another key after a refused one, tests it, and continues the work. */
export async function replaceRefusedKey(desk: Desk): Promise<void> {
  const { settings } = desk;
  const choice = settings && chooseModel(settings, process.env);
  if (settings === null || choice === null) return;
  const { host } = new URL(choice.baseUrl);
  const key = await askText(desk, {
    title: say("first.keyTitle"),
    hint: say("keys.pasteFor", { host }),
    isSecret: true,
  });
  if (!key || !(await confirmKeyHost(desk, key, choice))) return;
  const reached = await reachModel({ ...choice, apiKey: key }, new AbortController().signal);
  if ("fault" in reached) {
    desk.note(say("first.unreachable", { url: choice.baseUrl, why: reached.fault }), true);
    return;
  }
  if (reached.status === 401 || reached.status === 403) {
    desk.note(say("first.badKey"), true);
    return replaceRefusedKey(desk);
  }
  const variable = choice.keyFrom ?? findKeyVariable(choice, settings.model);
  await takeKey(desk, { variable, host, key });
  desk.host.renewModel();
  await desk.work.goOn();
}

/** A key that looks like one of another service is sent only after a question. */
async function confirmKeyHost(
  desk: Desk,
  key: string,
  { baseUrl }: { readonly baseUrl: string },
): Promise<boolean> {
  const [likeliest] = guessServices(key);
  const makers = listKeyedServices().filter(({ service }) => guessServices(key).includes(service));
  const { host } = new URL(baseUrl);
  const isKnownHost = listKeyedServices().some((one) => new URL(one.baseUrl).host === host);
  if (likeliest === undefined || !isKnownHost) return true;
  if (makers.some((one) => new URL(one.baseUrl).host === host)) return true;
  const choices = [
    { value: "", label: say("keys.notThere") },
    { value: "send", label: say("keys.allTheSame", { host }) },
  ];
  const title = say("keys.looksLike", { service: formatService(likeliest), host });
  return (await askChoice(desk, { title, choices })) === "send";
}
