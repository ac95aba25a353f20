import { type InlineData, orElse } from "@burin/core";
import { type Fields, fields, list, type Said, type Step, text } from "./found.ts";

/** Text that the agents themselves put into user messages. */
const NOT_SAID =
  /^\s*(?:<(?:(?:command|local-command|bash)-|(?:environment_context|session_context|user_instructions|INSTRUCTIONS|turn_aborted|skill|permissions|user_shell_command|task-notification)\b)|# AGENTS\.md)/;
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;
/** No agent nests its messages deeper, but a record may be damaged. */
const MOST_DEPTH = 20;
const CALLS = /^(?:tool_use|function_call|custom_tool_call|local_shell_call)$/;
const ANSWERS = /^(?:tool_result|function_call_output|custom_tool_call_output)$/;

/** Splits a message into steps: its content is a text, or parts in the format of any of the four agents. */
export function stepsOf(content: unknown, role: unknown, at: string): Step[] {
  const kind = role === "assistant" || role === "model" ? "model" : "user";
  const parts = partsOf(content);
  // Beside an answer in Gemini's words stands what it has brought, and never what the user said.
  const hasAnswer = parts.some(({ functionResponse }) => functionResponse !== undefined);
  const steps = parts.flatMap((part): Step[] => {
    const { type, functionCall, functionResponse, thought } = part;
    if (functionCall !== undefined || CALLS.test(text(type)))
      return [callOf(fields(functionCall ?? part), at)];
    if (functionResponse !== undefined || ANSWERS.test(text(type)))
      return [answerOf(fields(functionResponse ?? part), at)];
    const said = saidIn(part);
    const isOwn = thought !== true && !(kind === "user" && !hasAnswer && NOT_SAID.test(said.text));
    return isOwn && (said.text.trim() !== "" || said.media.length > 0) ? [{ at, kind, ...said }] : [];
  });
  return steps.reduce<Step[]>((all, step) => joined(all, step, hasAnswer), []);
}

/** What a user says in one message is one prompt; what an answer has brought is a part of it. */
function joined(steps: readonly Step[], step: Step, isBrought: boolean): Step[] {
  const last = steps.at(-1);
  const isOne = last?.kind === "user" || (isBrought && last?.kind === "answer");
  if (step.kind !== "user" || !isOne) return [...steps, step];
  const text = [last.text, step.text].filter((words) => words !== "").join("\n");
  return [...steps.slice(0, -1), { ...last, text, media: [...(last.media ?? []), ...(step.media ?? [])] }];
}

/** A call listed in a model's message next to its content, and its answer. */
export function callAndAnswer(call: Fields, at: string): [call: Step, answer: Step] {
  const { id, result, status } = call;
  // The answers of all calls of a message may stand beside each of them.
  const own = stepsOf(result, "user", at).find((step) => step.kind === "answer" && step.id === id);
  const said = own?.kind === "answer" ? own : saidIn(result);
  const answer = { ...said, kind: "answer", at, id: text(id), isError: status !== "success" } as const;
  return [callOf(call, at), answer];
}

function partsOf(content: unknown): Fields[] {
  return [content].flat().map((part) => (typeof part === "string" ? { text: part } : fields(part)));
}

function callOf(call: Fields, at: string): Step {
  const { call_id, id, name, type, args, input, arguments: written, action } = call;
  const command = fields(action).command;
  const parsed = orElse(written, () => (typeof written === "string" ? JSON.parse(written) : written));
  const given = args ?? input ?? parsed ?? (command === undefined ? {} : { command });
  const own = typeof given === "string" ? { input: given } : fields(given);
  const called = text(name) || text(type).replace(/_call$/, "");
  return { at, kind: "call", id: text(call_id ?? id), name: called, args: own };
}

function answerOf(answer: Fields, at: string): Step {
  const { tool_use_id, call_id, id, is_error, response, output, content } = answer;
  const isError =
    is_error === true || fields(response).error !== undefined || fields(output).success === false;
  const said = saidIn(response ?? output ?? content);
  return { at, kind: "answer", id: text(tool_use_id ?? call_id ?? id), ...said, isError };
}

/** The text and images of a string, a part, or nested parts. */
function saidIn(given: unknown, depth = 0): Required<Said> {
  const { output, error, content, functionResponse, text: own } = fields(given);
  const held = fields(functionResponse).response ?? output ?? error ?? content;
  if (depth > MOST_DEPTH) return { text: "", media: [] };
  if (held !== undefined) return saidIn(held, depth + 1);
  const inner = list(given).map((one) => saidIn(one, depth + 1));
  const words = [text(own ?? given).replace(REMINDER, ""), ...inner.map((one) => one.text)];
  const media = [...mediaIn(fields(given)), ...inner.flatMap((one) => one.media)];
  return { text: words.filter((one) => one !== "").join("\n"), media };
}

function mediaIn({ inlineData, source, image_url }: Fields): InlineData[] {
  const { type, data, media_type, mimeType } = fields(inlineData ?? source);
  if (inlineData !== undefined || type === "base64")
    return [{ data: text(data), mimeType: text(media_type ?? mimeType) }];
  const [, ofUrl, ofData] = /^data:([^;,]+);base64,(.+)$/s.exec(text(image_url)) ?? [];
  return ofUrl === undefined || ofData === undefined ? [] : [{ mimeType: ofUrl, data: ofData }];
}
