import type { Message, Part } from "@burin/contract/messages/message";
import { closeServers, serve } from "@burin/testing/served-model";
import { createSecret } from "@burin/testing/wire-reply";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

const TEXTS = ["I look.", "", " \n", "Done", "half a \ud800 character"];
const item = { summary: [{ type: "summary_text", text: "hm" }], encrypted_content: createSecret("hm") };
const SIGNATURES = [
  `anthropic:${createSecret("hm")}`,
  `openai-responses:${JSON.stringify({ id: "rs_1", ...item })}`,
  'openai-responses-message:{"phase":"final"}',
  'chat:{"reasoning_details":[{"type":"reasoning.text","text":"x"}]}',
];
const IDS = ["call_", "toolu_01", "functions.x:", "", `${"x".repeat(70)}-`, "é-"];
const NAMES = ["read_file", "mcp__srv.tool/x", "9lives", "ünï", "functions.ls"];
const RESULTS: readonly Record<string, string>[] = [
  { output: "ok" },
  { output: "" },
  { error: "no" },
  { error: "" },
  {},
];
const MEDIA = ["image/png", "application/pdf", "image/bmp", "audio/wav"];

const said = fc.constantFrom(...TEXTS).map((text): Part => ({ text }));
const thought = fc
  .constantFrom(...SIGNATURES)
  .map((thoughtSignature): Part => ({ text: "hm", thought: true, thoughtSignature }));
const shown = fc
  .tuple(fc.constantFrom(...MEDIA), fc.constantFrom("AAAA", ""))
  .map(([mimeType, data]): Part => ({ inlineData: { mimeType, data } }));
const called = fc.record({
  kind: fc.constantFrom(...IDS),
  name: fc.constantFrom(...NAMES),
  response: fc.constantFrom(...RESULTS),
  files: fc.array(shown, { maxLength: 1 }),
});
/** A reply of any model, broken off anywhere, and what the user or the tools say to it. */
const turn = fc.record({
  before: fc.oneof(
    fc.tuple(),
    fc.tuple(said),
    fc.tuple(thought),
    fc.tuple(thought, said),
    fc.tuple(said, thought),
  ),
  calls: fc.array(called, { maxLength: 3 }),
  after: fc.array(fc.oneof(said, shown), { maxLength: 2 }),
});

/** Such a history as a session has it: each call has one answer, and ids are unique. */
const histories = fc.array(turn, { minLength: 1, maxLength: 8 }).map((turns): Message[] =>
  turns.flatMap(({ before, calls, after }, at): Message[] => {
    const made = calls.map((call, place) => ({ ...call, id: `${call.kind}${at}${place}` }));
    const answers = made.flatMap(({ id, name, response, files }): Part[] => [
      { functionResponse: { id, name, response } },
      ...files,
    ]);
    const asked = made.map(({ id, name }): Part => ({ functionCall: { id, name, args: { at } } }));
    return [
      { role: "user", parts: at === 0 ? [{ text: "go" }] : [] },
      { role: "model", parts: [...before, ...asked] },
      { role: "user", parts: [...answers, ...after] },
    ];
  }),
);

describe("P10 P36 a history that many models have made", () => {
  it.each(["openai", "anthropic", "gemini", "openai-responses"] as const)(
    "keeps the rules of each protocol: %s",
    async (provider) => {
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const { baseUrl, problems } = await serve({ text: "ok" });
          const model = openModel({ provider, name: "m", baseUrl, tuning: { reasoning: 4000 } });
          const tools = [{ name: "read_file", description: "", parameters: { type: "object" } as const }];
          const { signal } = new AbortController();
          for await (const event of model.stream({ system: "s", history, tools }, signal)) {
            if (event.type === "end") expect(event.reason).toBe("stop");
          }
          await closeServers();
          expect(problems).toEqual([]);
        }),
        { numRuns: 150 },
      );
    },
  );
});
