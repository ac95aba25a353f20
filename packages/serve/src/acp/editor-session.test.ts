import { createSession } from "@burin/core";
import type { Settings } from "@burin/core/internal";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { type EditorConnection, EditorSession } from "./editor-session.ts";

const MODEL = {
  name: "m",
  async *stream() {
    yield { type: "end" as const, reason: "stop" as const };
  },
};

it("R50 an editor is offered only the modes that an administrator allows, and told of them for another one", async () => {
  const root = createTemporaryFolder();
  const managed = { file: "/etc/burin/settings.json", approvalModes: ["plan", "default"] as const };
  const session = createSession({ root, model: MODEL, home: false, settings: { managed } });
  const settings = { models: {}, model: {}, managed } as unknown as Settings;
  const editor = {
    root,
    settings,
    capabilities: {},
    client: { notify: async () => {} },
  } as unknown as EditorConnection;
  const opened = new EditorSession(session, editor, "m");
  expect(opened.state.modes.availableModes.map(({ id }) => id)).toEqual(["plan", "default"]);
  expect(() => opened.setMode("yolo")).toThrow();
  expect(session.approvalMode).toBe("default");
  opened.setMode("plan");
  expect(session.approvalMode).toBe("plan");
  await session.close();
});
