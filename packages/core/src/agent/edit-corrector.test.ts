import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import { type ScriptLine, scriptedModel } from "@burin/models/scripted";
import { describe, expect, it } from "vitest";
import type { FailedEdit } from "../text/correct-edit.ts";
import { createEditCorrector } from "./edit-corrector.ts";

const SAID = { prompt: "", reply: "" };

const FAILED: FailedEdit = {
  content: "one\ntwo\nthree\n",
  oldText: "wto",
  newText: "2",
  reason: "Failed to edit, 0 occurrences found.",
  line: 2,
};

/** Returns the model of the script, and the list of requests that it got. */
function listening(...script: ScriptLine[]) {
  const requests: ModelRequest[] = [];
  const inner = scriptedModel(script);
  const model: ChatModel = {
    name: "listening",
    stream: (request, signal) => {
      requests.push(request);
      return inner.stream(request, signal);
    },
  };
  return { correct: createEditCorrector(model, () => SAID), requests };
}

async function answered(text: string) {
  return listening({ text }).correct(FAILED, new AbortController().signal);
}

function questionIn(requests: readonly ModelRequest[]): string {
  return requests[0]?.history[0]?.parts[0]?.text ?? "";
}

describe("the model's correction of an edit", () => {
  it("R95 shows the model the failure, both texts and the file, and offers it no tools", async () => {
    const { correct, requests } = listening({ text: '{"old_string": "two", "new_string": "2"}' });
    const proposal = await correct(FAILED, new AbortController().signal);
    expect(proposal).toEqual({ oldText: "two", newText: "2" });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.tools).toEqual([]);
    for (const shown of [FAILED.reason, "wto", "2", FAILED.content]) {
      expect(questionIn(requests)).toContain(shown);
    }
  });

  it("R95 P17 takes the strings as JSON has them: escapes, dollars and signs stay what they are", async () => {
    const wanted = { oldText: 'a\\n"b" $& {\n\tü', newText: "“c” \\t }" };
    const json = JSON.stringify({ old_string: wanted.oldText, new_string: wanted.newText });
    for (const text of [
      json,
      `Here it is:\n\`\`\`json\n${json}\n\`\`\``,
      `{I looked} for it. ${json} Good luck!`,
      JSON.stringify({ new_string: wanted.newText, old_string: wanted.oldText }, null, 2),
    ]) {
      expect(await answered(text)).toEqual(wanted);
    }
  });

  it.each([
    ["", "nothing"],
    ["I cannot find it.", "words"],
    ['{"old_string": "", "new_string": "2"}', "no place"],
    ['{"old_string": "two"}', "half an answer"],
    ['{"old_string": 2, "new_string": 3}', "numbers"],
    ['{"old_string": "two", "new_string": "2"', "an unclosed object"],
    ["}{", "braces"],
    ["null", "null"],
  ])("R95 takes %j for no proposal", async (text) => {
    expect(await answered(text)).toBeNull();
  });

  it("R95 takes nothing from a reply that failed or was cut off", async () => {
    const text = '{"old_string": "two", "new_string": "2"}';
    const failing = listening({ text, error: { type: "server_error", message: "overloaded" } });
    expect(await failing.correct(FAILED, new AbortController().signal)).toBeNull();
    const cut: ChatModel = {
      name: "cut",
      stream: async function* (): AsyncGenerator<ModelEvent> {
        yield { type: "text", text };
        yield { type: "end", reason: "length" };
      },
    };
    expect(await createEditCorrector(cut, () => SAID)(FAILED, new AbortController().signal)).toBeNull();
  });

  it("R95 sends only the part in question of a long file", async () => {
    const lines = Array.from({ length: 9_000 }, (_, index) => `line ${index + 1}`);
    const { correct, requests } = listening({ text: "" });
    const content = lines.join("\n");
    await correct({ ...FAILED, content, line: 6_000 }, new AbortController().signal);
    const question = questionIn(requests);
    expect(question.length).toBeLessThan(26_000);
    expect(question).toContain("\nline 6000\n");
    expect(question).not.toContain("\nline 1\n");
  });

  describe("of several equal places", () => {
    const content = "function alpha() {\n  run();\n}\n\nfunction beta() {\n  run();\n}\n";
    const failed: FailedEdit = {
      ...FAILED,
      content,
      oldText: "  run();",
      newText: "  stop();",
      places: [2, 6],
    };
    const choose = (prompt: string, name: string) => {
      const text = JSON.stringify({
        old_string: `function ${name}() {\n  run();`,
        new_string: `function ${name}() {\n  stop();`,
      });
      const lines: ScriptLine[] = [{ text }];
      return createEditCorrector(scriptedModel(lines), () => ({ prompt, reply: "" }))(
        failed,
        new AbortController().signal,
      );
    };

    it("R95 X7 takes the one that the words before the call name, and no other", async () => {
      expect(await choose("In beta, stop instead.", "beta")).not.toBeNull();
      expect(await choose("In beta, stop instead.", "alpha")).toBeNull();
    });

    it("R95 X7 takes none when the words name none of them, or several", async () => {
      expect(await choose("Stop instead.", "beta")).toBeNull();
      expect(await choose("As in alpha: stop in beta, too.", "beta")).toBeNull();
      const many = { ...failed, places: [] };
      expect(
        await createEditCorrector(scriptedModel([{ text: "{}" }]), () => SAID)(
          many,
          new AbortController().signal,
        ),
      ).toBeNull();
    });
  });
});
