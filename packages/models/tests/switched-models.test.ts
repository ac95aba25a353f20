import type { Message, Part } from "@burin/contract/messages/message";
import { ASK, closeServers, raw, readAll, serve } from "@burin/testing/served-model";
import { createSecret } from "@burin/testing/wire-reply";
import { afterEach, describe, expect, it } from "vitest";
import { type ModelChoice, openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

type Provider = ModelChoice["provider"];

const refused = (message: string, status = 400, code?: string) =>
  raw(JSON.stringify({ error: { message, code } }), { status });
/** Nothing is learned from it, and nothing of it is looked at. */
const LAST = raw("{}", { status: 401 });

async function asking(provider: Provider, ...replies: Parameters<typeof serve>) {
  const { baseUrl, requests } = await serve(...replies);
  const model = openModel({ provider, name: "m", baseUrl });
  const ask = (history: readonly Message[]) => readAll(model, { history });
  return { ask, sent: () => requests.map(({ body }) => JSON.stringify(body)) };
}

const signedBy: Record<"openai" | "openai-responses", (word: string) => string> = {
  openai: (data) => `chat:${JSON.stringify({ reasoning_details: [{ type: "reasoning.encrypted", data }] })}`,
  "openai-responses": (text) => {
    const item = {
      id: "rs_1",
      summary: [{ type: "summary_text", text }],
      encrypted_content: createSecret(text),
    };
    return `openai-responses:${JSON.stringify(item)}`;
  },
};

function turn(id: string, ...parts: Part[]): Message[] {
  return [
    { role: "model", parts: [...parts, { functionCall: { id, name: "ls", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { id, name: "ls", response: { output: "x" } } }] },
  ];
}

const thought = (provider: keyof typeof signedBy, word: string): Part => ({
  text: "hm",
  thought: true,
  thoughtSignature: signedBy[provider](word),
});

describe("P36 after a switch of models", () => {
  // openai/codex#17541, anomalyco/opencode#48805, rowboatlabs/rowboat#832, tailcallhq/forgecode#2363,
  // can1357/oh-my-pi#41, chenyme/grok2api#688
  it.each<[keyof typeof signedBy, number, string]>([
    [
      "openai-responses",
      400,
      "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    ],
    ["openai-responses", 400, "reasoning `encrypted_content` was not issued to this caller"],
    [
      "openai-responses",
      404,
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    ],
    [
      "openai",
      404,
      "Your request contains encrypted reasoning or compaction content that was produced under a different model. Encrypted payloads can only be replayed to the endpoint that created them.",
    ],
    [
      "openai-responses",
      400,
      "Could not decode the compaction blob. Ensure it is unmodified from the compact response.",
    ],
    ["openai", 400, "messages.1.content.11: Invalid `signature` in `thinking` block"],
  ])(
    "thoughts of the other model stay away, and those of this one go back: %s, %i %s",
    async (provider, status, words) => {
      const { ask, sent } = await asking(provider, refused(words, status), LAST, LAST);
      const before = [ASK, ...turn("a", thought(provider, "b2xk"))];
      await ask(before);
      await ask([...before, ...turn("b", thought(provider, "bmV3"))]);
      const seen = sent().map((body) => [body.includes("b2xk"), body.includes("bmV3")]);
      expect(seen).toEqual([
        [true, false],
        [false, false],
        [false, true],
      ]);
    },
  );

  it("a Responses service that refuses also its own thoughts gets no more of them", async () => {
    const no = () =>
      refused("The encrypted content could not be verified.", 400, "invalid_encrypted_content");
    const { ask, sent } = await asking("openai-responses", no(), LAST, no(), LAST, LAST);
    const histories = ["b25l", "dHdv", "dGhyZWU"].map((secret, at) =>
      turn(String(at), thought("openai-responses", secret)),
    );
    for (const at of [1, 2, 3]) await ask([ASK, ...histories.slice(0, at).flat()]);
    expect(sent().map((body) => /b25l|dHdv|dGhyZWU/.test(body))).toEqual([true, false, true, false, false]);
  });

  it("a session that goes to and fro between two models does so each time", async () => {
    const no = () => refused("It has encrypted reasoning that was produced under a different model.", 404);
    const { ask, sent } = await asking("openai-responses", no(), LAST, no(), LAST);
    const history = [ASK, ...turn("a", thought("openai-responses", "b25l"))];
    await ask(history);
    await ask([...history, ...turn("b", thought("openai-responses", "dHdv"))]);
    expect(sent().map((body) => /b25l|dHdv/.exec(body)?.[0])).toEqual(["b25l", undefined, "dHdv", undefined]);
  });

  // openai/codex#10834
  it("what kind of text it was is left out where a Responses service does not know that", async () => {
    const { ask, sent } = await asking(
      "openai-responses",
      refused("Unknown parameter: 'input[1].phase'.", 400, "unknown_parameter"),
      LAST,
      LAST,
    );
    const phase = { thought: true, thoughtSignature: 'openai-responses-message:{"phase":"commentary"}' };
    const history = [ASK, ...turn("a", { text: "I look." }, phase)];
    await ask(history);
    await ask(history);
    expect(sent().map((body) => body.includes('"phase"'))).toEqual([true, false, false]);
    expect(sent()[1]).toContain('"content":"I look."');
  });

  // can1357/oh-my-pi#3227, anomalyco/opencode#48647, vllm-project/vllm#17092, anthropics/claude-code#24630
  it.each([
    "Request contains 4 images, exceeding the limit of 3. Reduce the number.",
    "At most 3 image(s) may be provided in one request.",
    "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
  ])(
    "P12 of more images than a service takes the older half stays away, and new ones are shown: %s",
    async (words) => {
      const { ask, sent } = await asking("anthropic", { text: "ok" }, refused(words), LAST);
      const shown = (name: string): Part => ({ inlineData: { mimeType: "image/png", data: btoa(name) } });
      const seen = {
        role: "user" as const,
        parts: [...["one", "two", "three"].map(shown), { text: "look" }],
      };
      await ask([seen]);
      const more: Message[] = [
        { role: "model", parts: [{ text: "ok" }] },
        { role: "user", parts: [shown("four")] },
      ];
      await ask([seen, ...more]);
      const names = ["one", "two", "three", "four"];
      expect(sent().map((body) => names.filter((name) => body.includes(btoa(name))))).toEqual([
        ["one", "two", "three"],
        names,
        ["three", "four"],
      ]);
    },
  );
});
