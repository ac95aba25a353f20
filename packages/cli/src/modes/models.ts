import {
  chooseModel,
  describeMissing,
  findKnownModel,
  findLocalServers,
  type ReachResult,
  reachModel,
  type Settings,
  TABLE_DATE,
} from "@burin/core/internal";
import type { ModelChoice } from "@burin/core/sessions";
import { openSettings } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import { printFindings, visible } from "../terminal/output.ts";
import { isModelListed, removeUrlSecrets } from "./doctor/examine.ts";

/** A row about a model. With --online, `online` is what its service says about it. */
type Listed = ReturnType<typeof buildRow> & { readonly online?: string | undefined };

/** Lists the models of settings, environment and this machine; with --online, also those that services offer. */
export async function run(
  { options, subcommandOptions }: SubcommandRequest,
  { output, signal }: Io,
): Promise<ExitCode> {
  const { settings } = await openSettings(options);
  const rows: Listed[] = [];
  const asked = new Map<string, ReachResult>();
  for (const [name, choice] of listNamedModels(settings)) {
    const { baseUrl } = choice;
    const isNew = subcommandOptions.online === true && !asked.has(baseUrl);
    if (isNew) asked.set(baseUrl, await reachModel(choice, signal));
    const reached = asked.get(baseUrl);
    const row = buildRow(name || choice.name, choice);
    rows.push({ ...row, isMain: name === "", online: reached && describeReached(choice.name, reached) });
    if (isNew) rows.push(...listOtherModels(choice, reached));
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(1000)]);
  for (const { baseUrl, models } of await findLocalServers(limit)) {
    rows.push(...models.map((name) => buildRow(name, { provider: "openai", name, baseUrl })));
  }
  const document = { tableDate: TABLE_DATE, models: rows };
  printFindings(output, options.outputFormat, { document, rows: rows.map(formatLine) });
  if (options.outputFormat !== "text") return EXIT.done;
  const missing = chooseModel(settings, process.env) === null ? describeMissing(settings, process.env) : null;
  if (missing !== null) output.note(`burin: the main model cannot be asked: ${visible(missing)}`);
  if (rows.length === 0) output.note('burin: no model is named here; burin -p "hello" says how to name one.');
  return EXIT.done;
}

/** Returns the main model, under an empty name, and the entries of `models` that have a service. */
function listNamedModels(settings: Settings): [string, ModelChoice][] {
  const { models } = settings;
  const main = { ...settings, name: "" };
  const others = Object.keys(models).map((name) => ({ models, model: { name }, name }));
  return [main, ...others].flatMap(({ name, ...named }): [string, ModelChoice][] => {
    const choice = chooseModel(named, process.env);
    return choice === null ? [] : [[name, choice]];
  });
}

/** Returns the other models that a service offers. The configured window and prices are not theirs. */
function listOtherModels(
  { provider, service, baseUrl, name: own }: ModelChoice,
  reached: ReachResult | undefined,
): Listed[] {
  const models = reached && "models" in reached ? (reached.models ?? []) : [];
  const place = { provider, baseUrl, ...(service === undefined ? {} : { service }) };
  return models.filter((name) => name !== own).map((name) => buildRow(name, { ...place, name }));
}

/** `name` is the value for -m or `model.name`; `model` is the name that the service uses. */
function buildRow(name: string, choice: ModelChoice) {
  const { name: model, provider, service = provider, baseUrl } = choice;
  const known = findKnownModel(model);
  const window = choice.window ?? known?.window;
  const price = choice.price ?? known?.price;
  return { name, model, service, address: removeUrlSecrets(baseUrl), isMain: false, window, price };
}

function describeReached(model: string, reached: ReachResult): string {
  if ("fault" in reached) return `not reached: ${reached.fault}`;
  const { status, models } = reached;
  if (status > 299) return `HTTP ${status}`;
  if (!models || models.length === 0) return "the service lists no models";
  return isModelListed(model, models) ? "listed there" : "NOT listed there";
}

function formatLine({ name, model, service, address, isMain, window, price, online }: Listed): string {
  const facts = [
    model === name ? "" : model,
    `${service} at ${address}`,
    window === undefined ? "" : `${window} tokens`,
    price === undefined ? "" : `$${price.input} in, $${price.output} out per million`,
    online ?? "",
  ];
  return `${isMain ? "*" : " "} ${name.padEnd(28)} ${facts.filter((fact) => fact !== "").join("; ")}`;
}
