import { join } from "node:path";
import type { AgentEvent, UsagePurpose } from "@burin/contract/agent-event";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import { mergeSettings, type Settings } from "@burin/contract/settings/settings";
import { realDirectory } from "@burin/machine/node-workspace";
import { roomForAnswers } from "../agent/answer-room.ts";
import { BackgroundTasks } from "../agent/background-tasks.ts";
import type { Briefing } from "../agent/context-notes.ts";
import { pageAnswerer } from "../agent/page-answerer.ts";
import { samplingOf } from "../agent/sampling.ts";
import { type Account, spendingModel } from "../agent/spending-model.ts";
import { newSessionId } from "../session/session-id.ts";
import { SessionRun } from "../session/session-run.ts";
import { burinHome } from "../settings/load-settings.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { agentOf, budgetOf, contextWindowOf } from "./join-agent.ts";
import { type Definitions, readDefinitions } from "./join-definitions.ts";
import type { JoinedHooks } from "./join-hooks.ts";
import { parkingOf, readsOf, recordingOf } from "./join-recording.ts";
import { joinSubagents } from "./join-subagents.ts";
import { joinParts } from "./join-tools.ts";
import type { SessionOptions } from "./session-options.ts";

export type JoinedSession = ReturnType<typeof joinSession>;

/** The parts of a session, joined: its tools, its agent, and the record of what they do. */
export function joinSession(options: SessionOptions) {
  const settings = mergeSettings([options.settings ?? {}]);
  const environment = options.environment ?? process.env;
  const models = new Models(options, settings);
  const { resume: resumed } = options;
  const id = resumed?.id ?? newSessionId();
  const isRecorded = options.record || resumed !== undefined;
  const budget = budgetOf(options.budget, models.model, settings);
  const spending = { ...options, ...(budget ? { budget } : {}) };
  const root = options.machine === undefined ? realDirectory(options.root) : options.root;
  const folders = [burinHome(environment), ...(options.isTrusted ? [join(root, ".burin")] : [])];
  const definitions = definitionsIn(folders);
  const tell = (event: AgentEvent) => agent.tell(event);
  const background = new BackgroundTasks({ mostCharacters: roomForAnswers(models.window), tell });
  const subagents = joinSubagents({
    folders,
    background,
    newAgent: async (to, onEvent) => {
      const { prompt: instructions, model: name } = to.definition;
      const model = models.or(name ?? settings.model.subagent);
      const own = await joined.forSubagent(to, () => subagent.history);
      const subagent = agentOf(spending, { ...own, model, settings, instructions, onEvent });
      return subagent;
    },
    tell,
  });
  const past = resumed?.session ?? null;
  const ground = { id, root, environment, settings, resumed, isRecorded };
  const announcement = announcementOf(models.model, { id, root, options });
  const recording = recordingOf(ground, announcement);
  const parking = parkingOf(ground, options.answer, recording);
  const accountOf = (purpose: UsagePurpose) => ({ purpose, budget, tell });
  const { askModel, ...help } = helpOf(settings, models, { accountOf, history: () => agent.history });
  const joined = joinParts(
    { ...options, root },
    {
      ...help,
      forServers: { askModel, areAwaited: options.awaitsServers ?? false },
      subagents,
      recorded: () => recording.recorded(),
      ...(isRecorded ? { undoWriter: id } : {}),
      sessionId: id,
      reads: readsOf(past, recording),
      awaitsAnswers: options.awaitsAnswers,
      asking: { tell, recall: parking.recall },
      onMode: (mode) => tell({ type: "mode", mode }),
      park: options.park ? parking.confirm : undefined,
    },
  );
  const { registry, runCalls, callIds, workspace, hooks } = joined;
  const kindOf = (tool: string) => registry.getTool(tool)?.kind;
  const agent = agentOf(spending, {
    model: models.model,
    settings,
    registry,
    runCalls,
    callIds,
    workspace,
    briefing: briefingOf(definitions, hooks),
    waiting: joined.discovery,
    background,
    onEvent: (event) => recording.note(event),
    ...(resumed ? { past: resumed.session.events(kindOf) } : {}),
  });
  const demands = demandsOf(options, settings, joined);
  const work = new SessionRun({ agent, announcement, recording, past, kindOf, parking, ...demands });
  return { id, joined, subagents, definitions, agent, background, work, recording, parking, models };
}

/** Reads them when they are asked for, once. */
function definitionsIn(folders: readonly string[]): () => Promise<Definitions> {
  let reading: Promise<Definitions> | null = null;
  return () => {
    reading ??= readDefinitions(folders);
    return reading;
  };
}

type Joined = ReturnType<typeof joinParts>;

/** What is asked of a run beside its prompt. */
function demandsOf(
  { answerSchema, check }: SessionOptions,
  settings: Settings,
  { registry, current }: Joined,
) {
  const command = check ?? settings.check;
  const shell = () => registry.getTool("run_shell_command");
  return { answerSchema, check: command ? { command, shell } : null, mode: () => current.mode };
}

/** What the model is told of skills, and what hooks say. */
function briefingOf(definitions: () => Promise<Definitions>, hooks: JoinedHooks | null): Briefing {
  return async (moment, signal) => {
    const { skills } = await definitions();
    const said = hooks
      ? await hooks.at(moment === "start" ? "session_start" : "before_compaction", signal)
      : [];
    return [...(skills === null ? [] : [skills]), ...said];
  };
}

interface Announced {
  readonly id: string;
  readonly root: string;
  readonly options: SessionOptions;
}

function announcementOf({ name }: ChatModel, { id, root, options }: Announced): AgentEvent {
  const { approvalMode: mode = "default", resume } = options;
  const announcement = { type: "session" as const, sessionId: id, model: name, root, mode };
  return resume?.forkOf === undefined ? announcement : { ...announcement, forkOf: resume.forkOf };
}

interface ForHelp {
  readonly accountOf: (purpose: UsagePurpose) => Account;
  readonly history: () => readonly Message[];
}

/** What tools have of the model: its help, and how much of an answer its window takes. */
function helpOf(settings: Settings, models: Models, { accountOf, history }: ForHelp) {
  const paid = (purpose: UsagePurpose, asked: { readonly model: ChatModel } = models.forSmallWork) =>
    spendingModel(asked, accountOf(purpose));
  // Hardly any run corrects an edit: what that takes is loaded with the first one that does.
  const correctEditOf =
    (said: ForHelp["history"]): CorrectEdit =>
    async (failed, signal) => {
      const { editCorrector, wordsIn } = await import("../agent/edit-corrector.ts");
      return editCorrector(paid("edit_correction"), () => wordsIn(said()))(failed, signal);
    };
  return {
    ...(settings.tools.editCorrection ? { correctEditOf, history } : {}),
    answerFromPage: pageAnswerer(paid("page")),
    askModel: samplingOf(paid("mcp_sampling", models)),
    mostAnswerCharacters: roomForAnswers(models.window),
  };
}

/** The model that answers, and those that can be named beside it. */
class Models {
  model: ChatModel;
  /** Corrections, pages: follows the model that answers, unless settings name another. */
  readonly forSmallWork: { readonly model: ChatModel };
  readonly #first: string;
  readonly #settings: Settings;
  readonly #openModel: SessionOptions["openModel"];

  constructor({ model, openModel }: SessionOptions, settings: Settings) {
    this.#settings = settings;
    this.#openModel = openModel;
    const main = model ? soundModel(model) : openModel?.();
    if (!main)
      throw new Error(
        "No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.",
      );
    this.model = main;
    this.#first = main.name;
    const { small } = settings.model;
    this.forSmallWork = small === undefined ? this : { model: this.#named(small) };
  }

  /** In tokens. The one in the settings is that of the model in the settings. */
  get window(): number {
    return contextWindowOf(this.model.name === this.#first ? this.#settings.model : {}, this.model);
  }

  /** The model of that name; without a name the one that answers. */
  or(name: string | undefined): ChatModel {
    return name === undefined ? this.model : this.#named(name);
  }

  use(given: string | ChatModel): void {
    this.model = typeof given === "string" ? this.#named(given) : soundModel(given);
  }

  #named(name: string): ChatModel {
    const found = this.#openModel?.(name);
    if (found) return found;
    throw new Error(`No service is configured for the model "${name}": set its key or its baseUrl.`);
  }
}

/** Of another's hand; the check of what it says is on its way before its first word. */
function soundModel(model: ChatModel): ChatModel {
  const { name, contextWindow } = model;
  const loading = import("@burin/models/sound-model");
  loading.catch(() => {});
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await loading).soundEvents(model, request, signal);
  }
  return { name, stream, ...(contextWindow === undefined ? {} : { contextWindow }) };
}
