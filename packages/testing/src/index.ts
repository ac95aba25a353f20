export {
  parseScript,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptLine,
  scriptedModel,
} from "@burin/models/scripted";
export {
  type FakeModelServer,
  type FakeReply,
  type RawReply,
  type RecordedRequest,
  startFakeModelServer,
} from "./fake-model-server.ts";
