import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSession } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { openModel } from "@burin/core/sessions";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

let base: string;
let root: string;
let server: FakeModelServer;

beforeEach(async () => {
  base = createTemporaryFolder();
  root = join(base, "work");
  await mkdir(root);
  await writeFile(join(root, "AGENTS.md"), "Speak Latin.");
  await writeFile(join(root, "a.txt"), "alpha beta gamma delta epsilon zeta\n".repeat(40));
});

afterEach(async () => {
  await server.close();
});

describe("a session that was compacted", () => {
  it.each(["openai", "openai-responses", "anthropic", "gemini"] as const)(
    "P6 P13 P36 goes on after a resume with the same history, and what a provider wants back is still there (%s)",
    async (provider) => {
      let asked = 0;
      const reply: FakeReply = ({ body }) => {
        if (body.tools === undefined) return { text: "SUMMARY" };
        asked += 1;
        const args = { absolute_path: join(root, "a.txt"), offset: asked % 2, limit: 50 };
        const text = `Turn ${asked}. ${"A word on it. ".repeat(30)}`;
        const calls = asked > 24 ? [] : [{ name: "read_file", args }];
        return { thought: `Thought ${asked}.`, text, calls };
      };
      server = await startFakeModelServer(new Array<FakeReply>(80).fill(reply));
      const model = openModel({ provider, name: "fake", baseUrl: server.baseUrl, apiKey: "k" });
      const home = join(base, "home");
      const options = {
        root,
        model,
        settings: { model: { contextWindow: 8192 } },
        environment: { ...process.env, BURIN_HOME: home },
      };
      const first = createSession({ ...options, record: true });
      const events = await collectEvents(first.run("Read it often."));
      expect(events.at(-1)).toMatchObject({ type: "done", status: "success" });
      expect(events.filter(({ type }) => type === "compaction").length).toBeGreaterThan(0);
      await first.close();
      const resume = await resumeSession({ home, root, id: first.id });
      const second = createSession({ ...options, resume });
      expect(second.history).toEqual(first.history);
      const more = await collectEvents(second.run("And now?"));
      expect(more.at(-1)).toMatchObject({ type: "done", status: "success" });
      // The instructions are told of once, in what stands for the conversation.
      expect(more.some(({ type }) => type === "context")).toBe(false);
      expect(JSON.stringify(second.history).split("Speak Latin.")).toHaveLength(2);
      expect(server.problems).toEqual([]);
      await second.close();
    },
  );
});
