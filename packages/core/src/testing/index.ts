export {
  parseScript,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptLine,
  scriptedModel,
} from "../models/scripted.ts";
export {
  type FakeModelServer,
  type FakeReply,
  type RawReply,
  type RecordedRequest,
  startFakeModelServer,
} from "./fake-model-server.ts";
