import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSession, type Part } from "@burin/core";
import { openModel } from "@burin/core/sessions";
import { type FakeModelServer, startFakeModelServer } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PROVIDERS = ["openai", "anthropic", "gemini", "openai-responses"] as const;

const read = (file_path: string) => ({ name: "read_file", args: { file_path } });
const calls = fc.array(
  fc.constantFrom(
    ...["a.png", "empty.txt", "missing"].map(read),
    { name: "glob", args: { pattern: "*.none" } },
    { name: "no_such_tool", args: {} },
    { name: "read_file", args: {} },
  ),
  { minLength: 1, maxLength: 3 },
);
/** What a model says to a prompt: some rounds of calls, and an answer, a failure or nothing. */
const working = fc.record({
  thought: fc.constantFrom("", "hm"),
  text: fc.constantFrom("", "I look."),
  calls,
});
const ending = fc.constantFrom(
  { text: "ok" },
  { thought: "so", text: "ok" },
  { thought: "so", error: { message: "no credit left", status: 402 } },
);
const turn = fc.record({
  provider: fc.nat({ max: 3 }),
  reasoning: fc.constantFrom(4000, "high" as const),
  prompt: fc.constantFrom<string | Part[]>("go", [
    { text: "look" },
    { inlineData: { mimeType: "image/png", data: PNG } },
  ]),
  replies: fc.tuple(fc.array(working, { maxLength: 2 }), ending).map(([rounds, last]) => [...rounds, last]),
});

describe("P36 a session that goes from model to model", () => {
  it("keeps the rules of each service in every request", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 6 }), async (turns) => {
        const root = createTemporaryFolder();
        writeFileSync(join(root, "a.png"), Buffer.from(PNG, "base64"));
        writeFileSync(join(root, "empty.txt"), "");
        const servers = await Promise.all(
          PROVIDERS.map((_, place) =>
            startFakeModelServer(
              turns.flatMap(({ provider, replies }) => (provider === place ? replies : [])),
            ),
          ),
        );
        const modelOf = ({ provider, reasoning }: (typeof turns)[number]) => {
          const { baseUrl } = servers[provider] as FakeModelServer;
          const name = PROVIDERS[provider] ?? "openai";
          return openModel({ provider: name, name: "m", baseUrl, tuning: { reasoning } });
        };
        const environment = { ...process.env, BURIN_HOME: join(root, ".home") };
        const [first] = turns as [(typeof turns)[number]];
        const session = createSession({ root, model: modelOf(first), environment });
        for (const next of turns) {
          session.useModel(modelOf(next));
          for await (const _ of session.run(next.prompt));
        }
        await session.close();
        for (const server of servers) await server.close();
        expect(servers.flatMap(({ problems }) => problems)).toEqual([]);
        expect(servers.flatMap((server) => server.unusedReplies())).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
