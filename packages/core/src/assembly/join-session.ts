import { join } from "node:path";
import { editCorrector } from "../agent/edit-corrector.ts";
import { pageAnswerer } from "../agent/page-answerer.ts";
import type { ChatModel } from "../models/chat-model.ts";
import { configuredModel } from "../models/configured-model.ts";
import { newSessionId } from "../session/session-id.ts";
import { SessionRun } from "../session/session-run.ts";
import { burinHome } from "../settings/load-settings.ts";
import { mergeSettings, type Settings } from "../settings/settings.ts";
import { agentOf, budgetOf } from "./join-agent.ts";
import { type Definitions, readDefinitions } from "./join-definitions.ts";
import { recordingOf } from "./join-recording.ts";
import { joinSubagents } from "./join-subagents.ts";
import { joinParts } from "./join-tools.ts";
import type { SessionOptions } from "./session-options.ts";

/** The parts of a session, joined: its tools, its agent, and the record of what they do. */
export function joinSession(options: SessionOptions) {
  const settings = mergeSettings([options.settings ?? {}]);
  const environment = options.environment ?? process.env;
  const model = options.model ?? modelOf(settings, environment);
  const { resume: resumed } = options;
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
  const subagents = joinSubagents({
    folders,
    modelNamed: (name) =>
      name === undefined ? model : modelOf({ ...settings, model: { ...settings.model, name } }, environment),
    newAgent: async (definition, model) => {
      const own = await joined.forSubagent(definition);
      return agentOf(spending, { ...own, model, settings, instructions: definition.prompt });
    },
    onEvent: (event) => {
      if (event.type === "usage") agent.tell({ ...event, purpose: "subagent" });
    },
  });
  const joined = joinParts(
    { ...options, root: options.cwd },
    {
      ...(settings.tools.editCorrection ? { correctEdit: editCorrector(model) } : {}),
      subagents,
      answerFromPage: pageAnswerer(model),
      recorded: async () => recording?.recorded(),
      ...(isRecorded ? { undoWriter: id } : {}),
      sessionId: id,
    },
  );
  const { registry, scheduler, workspace, root, hooks } = joined;
  const recording = isRecorded ? recordingOf({ id, root, environment, settings, resumed }) : null;
  const kindOf = (tool: string) => registry.getTool(tool)?.kind;
  const agent = agentOf(spending, {
    model,
    settings,
    registry,
    scheduler,
    workspace,
    briefing: async (moment, signal) => {
      const { skills } = await definitions();
      const said = hooks
        ? await hooks.at(moment === "start" ? "session_start" : "before_compaction", signal)
        : [];
      return [...(skills === null ? [] : [skills]), ...said];
    },
    waiting: joined.discovery,
    ...(recording ? { onEvent: (event) => recording.note(event) } : {}),
    ...(resumed ? { past: resumed.session.events(kindOf) } : {}),
  });
  const work = new SessionRun({
    agent,
    announcement: {
      type: "session",
      sessionId: id,
      model: model.name,
      root,
      ...(resumed?.forkOf === undefined ? {} : { forkOf: resumed.forkOf }),
    },
    recording,
    past: resumed?.session ?? null,
    kindOf,
  });
  return { id, joined, subagents, definitions, agent, work, recording };
}

function modelOf(settings: Settings, environment: NodeJS.ProcessEnv): ChatModel {
  const model = configuredModel(settings.model, environment);
  if (model) return model;
  throw new Error("No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.");
}
