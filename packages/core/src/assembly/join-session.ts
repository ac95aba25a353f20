import { resolveToolKind } from "@burin/contract/tools";
import { BackgroundTasks } from "../agent/background-tasks.ts";
import { computeAnswerRoom } from "../agent/context-size.ts";
import { Conversation } from "../agent/conversation.ts";
import { createSessionId } from "../session/log/session-id.ts";
import { Parking } from "../session/parking.ts";
import { Recording } from "../session/recording.ts";
import { SessionEvents } from "../session/session-events.ts";
import { type Home, resolveHome } from "./home.ts";
import { createAgent, createBriefing } from "./join-agent.ts";
import { joinSubagents } from "./join-subagents.ts";
import type { SessionOptions } from "./options.ts";
import { createModelHelpers, createSessionEvent, Models } from "./session-models.ts";
import { ToolSet } from "./tool-set.ts";

export type JoinedSession = ReturnType<typeof joinSession>;

/** The parts of a session, each complete before the next one needs it. */
export function joinSession(options: SessionOptions) {
  const home = resolveHome(options);
  const models = new Models(options, home.settings);
  const log = openLog(options, home, models);
  const conversation = new Conversation(log.events.note);
  const { tell } = conversation;
  const budget = models.createBudget(options.budget);
  const maxAnswerCharacters = computeAnswerRoom(models.window);
  const background = new BackgroundTasks({ maxCharacters: maxAnswerCharacters, tell });
  const spending = { home, budget, maxTurns: options.maxTurns, mainPrompt: options.instructions };
  const subagents = joinSubagents({ ...spending, models, tell, background });
  const help = createModelHelpers(models, { home, budget, conversation });
  const { parked, parking, recording } = log;
  const tools = new ToolSet(options, home, {
    ...help.tools,
    maxAnswerCharacters,
    forServers: { askModel: help.askModel, areAwaited: options.awaitsServers ?? false },
    recorded: () => recording.recorded(),
    recordsReads: options.keepLog !== undefined,
    undoWriter: isRecorded(options) ? log.id : undefined,
    sessionId: log.id,
    tellsGit: !options.resume && options.machine === undefined && home.settings.context.environment,
    reads: recording.reads,
    awaitsAnswers: options.awaitsAnswers,
    asking: { tell, recall: parking.recall, knows: (callId) => parked?.hasQuestion(callId) ?? false },
    onMode: (mode) => tell({ type: "mode", mode }),
    park: options.park ? parking.confirm : undefined,
    subagents,
  });
  const { registry, runCalls, callIds, workspace, discovery, onRequestSent, hooks, gitNews } = tools;
  discovery.onFailure = ({ source, message }) => {
    tools.notes.push(`Tools from ${source}: ${message}`);
  };
  const agent = createAgent({
    ...spending,
    model: models.model,
    small: models.small,
    conversation,
    background,
    onRequestSent,
    waitsForUser: options.awaitsAnswers || options.park,
    past: log.past?.listEvents((tool) => resolveToolKind(registry.getTool(tool))),
    registry,
    runCalls,
    callIds,
    workspace,
    waiting: discovery,
    briefing: createBriefing(home.definitions, hooks),
    news: () => gitNews?.takeNews(tools.spoken.inputs) ?? null,
  });
  const { answerSchema, check = home.settings.check } = options;
  return {
    ...log,
    home,
    models,
    conversation,
    budget,
    background,
    subagents,
    tools,
    agent,
    answerSchema,
    check,
  };
}

/** What keeps the events of a session. */
function openLog(options: SessionOptions, home: Home, models: Models) {
  const { resume, keepLog: keep, answer } = options;
  const id = resume?.id ?? createSessionId();
  const announcement = createSessionEvent(id, { model: models.model.name, home }, options);
  const { root, folder, secrets, settings } = home;
  const place = {
    id,
    root,
    home: folder,
    secrets,
    settings,
    isRecorded: isRecorded(options),
    resumed: resume,
    keep,
  };
  const recording = new Recording(place, announcement);
  const past = resume?.session ?? null;
  const parked = past?.buildParkedQuestions(answer);
  const parking = new Parking({ sessionId: id, recording, parked });
  return { id, announcement, recording, past, parked, parking, events: new SessionEvents(recording, parked) };
}

function isRecorded({ record, resume, keepLog }: SessionOptions): boolean {
  return record === true || resume !== undefined || keepLog !== undefined;
}
