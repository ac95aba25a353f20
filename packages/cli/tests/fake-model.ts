import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach } from "vitest";

/** The model service that was started last. */
export let server: FakeModelServer;
const started: FakeModelServer[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});

/** Starts a model service until the test has ended, and returns the variables that name it. */
export async function modelEnv(...replies: FakeReply[]) {
  server = await startFakeModelServer(replies);
  started.push(server);
  return { OPENAI_BASE_URL: server.baseUrl, OPENAI_MODEL: "fake", OPENAI_API_KEY: "sk-secret-key" };
}
