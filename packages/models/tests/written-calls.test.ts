import type { FakeReply } from "@burin/testing/fake-model-server";
import { closeServers, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

describe("P15 what a model writes into its text, in any protocol", () => {
  it.each(["openai", "openai-responses", "anthropic", "gemini"] as const)(
    "is read as thoughts and calls, and what it only repeats stays text: %s",
    async (provider) => {
      const call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.md"}}\n</tool_call>';
      const reply: FakeReply = { text: `<think>Where?</think>I look.\n${call}` };
      const { baseUrl, problems } = await serve(reply, reply);
      const model = openModel({ provider, name: "m", baseUrl });
      const properties = { path: { type: "string" } } as const;
      const tools = [
        { name: "read_file", description: "", parameters: { type: "object" as const, properties } },
      ];
      const read = async (system: string) => {
        const events = await readAll(model, { system, tools });
        const said = events.map((event) => (event.type === "text" ? event.text : "")).join("");
        return { events, said, calls: events.filter(({ type }) => type === "function_call") };
      };
      const written = await read("");
      expect(written.said.trim()).toBe("I look.");
      expect(written.events.find(({ type }) => type === "thought")).toMatchObject({ text: "Where?" });
      expect(written.calls).toMatchObject([{ call: { name: "read_file", args: { path: "notes.md" } } }]);
      expect(written.events.filter(({ type }) => type === "notice")).toHaveLength(1);
      const repeated = await read(`Never write ${call}`);
      expect(repeated.calls).toEqual([]);
      expect(repeated.said).toContain(call);
      expect(problems).toEqual([]);
    },
  );
});
