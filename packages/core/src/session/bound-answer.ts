import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import { schemaError } from "@burin/contract/messages/check-schema";
import type { JsonSchema } from "@burin/contract/messages/json-schema";

/** So often the model is told what is wrong with its answer. */
const MOST_CORRECTIONS = 3;
const LONGEST_FAULT = 2000;

export type Ask = (prompt: string | null) => AsyncGenerator<AgentEvent>;

/**
 * Asks until the final answer is JSON that fits the schema; the end then has the JSON alone as `result` and its
 * value as `structured`. The schema is told behind the prompt, so that the beginning of each request stays.
 */
export async function* boundAnswer(
  schema: JsonSchema,
  prompt: string | null,
  ask: Ask,
): AsyncGenerator<AgentEvent> {
  let input = prompt === null ? null : `${prompt}\n\n${instruction(schema)}`;
  let turns = 0;
  for (let corrections = 0; ; corrections += 1) {
    const done = yield* untilDone(ask(input));
    if (done === null) return;
    turns += done.turns;
    const read = done.status === "success" ? readAnswer(done.result, schema) : null;
    if (read === null) {
      yield { ...done, turns };
      return;
    }
    if (!("fault" in read)) {
      yield { ...done, turns, result: read.json, structured: read.value };
      return;
    }
    if (corrections === MOST_CORRECTIONS) {
      const message = `The final answer does not fit the schema: ${read.fault}`;
      yield { ...done, turns, status: "error", error: { type: "schema_mismatch", message } };
      return;
    }
    const again = input === null ? instruction(schema) : "Answer again, with nothing but the JSON value.";
    input = `Your answer does not fit the schema: ${read.fault}. ${again}`;
  }
}

/** Hands on all but the end, which is returned. */
export async function* untilDone(
  events: AsyncGenerator<AgentEvent>,
  hear: (event: AgentEvent) => void = () => {},
): AsyncGenerator<AgentEvent, RunEnd | null> {
  let done: RunEnd | null = null;
  for await (const event of events) {
    hear(event);
    if (event.type === "done") done = event;
    else yield event;
  }
  return done;
}

function instruction(schema: JsonSchema): string {
  return `When you are done, answer with nothing but a JSON value that fits this JSON Schema:\n${JSON.stringify(schema)}`;
}

type ReadAnswer = { readonly json: string; readonly value: unknown } | { readonly fault: string };

function readAnswer(text: string, schema: JsonSchema): ReadAnswer {
  const json = bare(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { fault: `it is not valid JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  const fault = schemaError(schema, value)?.replaceAll("the arguments", "the answer");
  if (fault === undefined) return { json, value };
  return { fault: fault.length > LONGEST_FAULT ? `${fault.slice(0, LONGEST_FAULT)}...` : fault };
}

/** Many models put JSON into a code block, whatever they were asked. */
function bare(text: string): string {
  const lines = text.split(/\r?\n/);
  const fences = lines.flatMap((line, index) => (/^\s*```/.test(line) ? [index] : []));
  const [first = 0, last] = fences;
  return (fences.length === 2 ? lines.slice(first + 1, last).join("\n") : text).trim();
}
