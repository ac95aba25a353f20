import { join } from "node:path";
import type { AgentEvent, UsagePurpose } from "@burin/contract/agent-event";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import { mergeSettings, type Settings } from "@burin/contract/settings/settings";
import { roomForAnswers } from "../agent/answer-room.ts";
import { BackgroundTasks } from "../agent/background-tasks.ts";
import type { Briefing } from "../agent/context-notes.ts";
import { pageAnswerer } from "../agent/page-answerer.ts";
import { notice } from "../agent/plain-events.ts";
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

/** The parts of a session, joined: its tools, its agent, and the record of what they do. */
export function joinSession(options: SessionOptions) {
  const settings = mergeSettings([options.settings ?? {}]);
  const environment = options.environment ?? process.env;
  const models = modelsOf(options);
  const model = models.main;
  const { resume: resumed, answerSchema } = options;
  const id = resumed?.id ?? newSessionId();
  const isRecorded = options.record || resumed !== undefined;
  const budget = budgetOf(options.budget, model.name, settings);
  const spending = { ...options, ...(budget ? { budget } : {}) };
  const folders = [burinHome(environment), ...(options.isTrusted ? [join(options.cwd, ".burin")] : [])];
  let reading: Promise<Definitions> | null = null;
  const definitions = () => {
    reading ??= readDefinitions(folders);
    return reading;
  };
  const background = new BackgroundTasks({
    mostCharacters: roomForAnswers(contextWindowOf(settings, model)),
    onEnd: (message) => agent.tell(notice(message)),
  });
  const subagents = joinSubagents({
    folders,
    background,
    modelNamed: (name) => models.or(name ?? settings.model.subagent),
    newAgent: async (definition, model, onEvent) => {
      const own = await joined.forSubagent(definition);
      return agentOf(spending, { ...own, model, settings, instructions: definition.prompt, onEvent });
    },
    tell: (event) => agent.tell(event),
  });
  const past = resumed?.session ?? null;
  const ground = { id, environment, settings, resumed };
  const parking = options.park ? parkingOf(ground, options.answer, () => recording) : null;
  const tell = (event: AgentEvent) => agent.tell(event);
  const accountOf = (purpose: UsagePurpose) => ({ purpose, budget, tell });
  const small = models.or(settings.model.small);
  const { askModel, ...help } = helpOf(settings, model, { small, accountOf, history: () => agent.history });
  const joined = joinParts(
    { ...options, root: options.cwd },
    {
      ...help,
      forServers: { askModel, areAwaited: options.awaitsServers ?? false },
      subagents,
      recorded: async () => recording?.recorded(),
      ...(isRecorded ? { undoWriter: id } : {}),
      sessionId: id,
      reads: readsOf(past, () => recording),
      ...(parking ? { park: parking.confirm } : {}),
    },
  );
  const { registry, scheduler, workspace, root, hooks } = joined;
  const recording = isRecorded ? recordingOf({ ...ground, root }) : null;
  const kindOf = (tool: string) => registry.getTool(tool)?.kind;
  const agent = agentOf(spending, {
    model,
    settings,
    registry,
    scheduler,
    workspace,
    briefing: briefingOf(definitions, hooks),
    waiting: joined.discovery,
    background,
    ...(recording ? { onEvent: (event) => recording.note(event) } : {}),
    ...(resumed ? { past: resumed.session.events(kindOf) } : {}),
  });
  const announcement = announcementOf(model, { id, root, forkOf: resumed?.forkOf });
  const work = new SessionRun({ agent, announcement, recording, past, kindOf, parking, answerSchema });
  return { id, joined, subagents, definitions, agent, background, work, recording };
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
  readonly forkOf: string | undefined;
}

function announcementOf({ name }: ChatModel, { id, root, forkOf }: Announced): AgentEvent {
  const announcement = { type: "session" as const, sessionId: id, model: name, root };
  return forkOf === undefined ? announcement : { ...announcement, forkOf };
}

interface ForHelp {
  /** Asked for small work. */
  readonly small: ChatModel;
  readonly accountOf: (purpose: UsagePurpose) => Account;
  readonly history: () => readonly Message[];
}

/** What tools have of the model: its help, and how much of an answer its window takes. */
function helpOf(settings: Settings, model: ChatModel, { small, accountOf, history }: ForHelp) {
  const paid = (purpose: UsagePurpose, asked = small) => spendingModel(asked, accountOf(purpose));
  // Hardly any run corrects an edit: what that takes is loaded with the first one that does.
  const correctEdit: CorrectEdit = async (failed, signal) => {
    const { editCorrector, wordsIn } = await import("../agent/edit-corrector.ts");
    return editCorrector(paid("edit_correction"), () => wordsIn(history()))(failed, signal);
  };
  return {
    ...(settings.tools.editCorrection ? { correctEdit } : {}),
    answerFromPage: pageAnswerer(paid("page")),
    askModel: samplingOf(paid("mcp_sampling", model)),
    mostAnswerCharacters: roomForAnswers(contextWindowOf(settings, model)),
  };
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

/** Opens the main model and others by their names; throws where there is none. */
function modelsOf({ model, openModel }: SessionOptions) {
  const named = (name: string): ChatModel => {
    const found = openModel?.(name);
    if (found) return found;
    throw new Error(`No service is configured for the model "${name}": set its key or its baseUrl.`);
  };
  const main = model ? soundModel(model) : openModel?.();
  if (main) return { main, or: (name: string | undefined) => (name === undefined ? main : named(name)) };
  throw new Error("No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.");
}
