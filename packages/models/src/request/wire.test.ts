import { closeServers, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../choice/open-model.ts";

afterEach(closeServers);

describe("P16 tools", () => {
  // Examples from 85 such keys in the tools of beautyfree/appstore-connect-mcp#2, and from Microsoft's OData.
  it.each(["openai", "openai-responses", "anthropic", "gemini"] as const)(
    "are called with parameters of any name: %s",
    async (provider) => {
      const server = await serve(({ body }) => {
        const [wire = ""] = /filter_bundleId_\w+/.exec(JSON.stringify(body)) ?? [];
        return { calls: [{ name: "look", args: { [wire]: "x", "page.size": 5 } }] };
      });
      const names = ["filter[bundleId]", "filter(bundleId)", "$top", "page.size", "ü", "x".repeat(65)];
      const properties = Object.fromEntries(
        names.map((name) => [name, { type: "string", pattern: "\\p{L}" }]),
      );
      const parameters = { type: "object" as const, properties, required: ["filter[bundleId]"] };
      const model = openModel({ provider, name: "m", baseUrl: server.baseUrl });
      const events = await readAll(model, { tools: [{ name: "look", description: "", parameters }] });
      expect(server.problems).toEqual([]);
      const made = events.flatMap((event) => (event.type === "function_call" ? [event.call.args] : []));
      expect(made).toEqual([{ "filter[bundleId]": "x", "page.size": 5 }]);
      const [sent] = server.requests.map(({ body }) => JSON.stringify(body));
      expect(sent).not.toContain("pattern");
      expect(new Set(sent?.match(/filter_bundleId_\w+/g)).size).toBe(2);
      expect(sent?.match(/"required":\["filter_bundleId_\w+"\]/)).not.toBeNull();
    },
  );
});
