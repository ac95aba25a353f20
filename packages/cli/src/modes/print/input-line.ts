/** One thing that a program says on stdin. */
export type InputLine =
  | { readonly type: "user" | "steer"; readonly text: string }
  | { readonly type: "interrupt" }
  | { readonly type: "answer"; readonly id: string; readonly decision: unknown }
  | { readonly type: "fault"; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

const SHAPES =
  'write {"type":"user","text":"..."}, {"type":"steer","text":"..."}, {"type":"interrupt"} or {"type":"answer","id":"...","decision":{...}}';

export function readInputLine(line: string): InputLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return fault(`it is not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (!isFields(value)) return fault("it is not an object");
  const { type, text, id, decision } = value;
  switch (type) {
    case "user":
    case "steer":
      return typeof text === "string" && text.trim() !== "" ? { type, text } : fault('it has no "text"');
    case "interrupt":
      return { type };
    case "answer":
      return typeof id === "string" ? { type, id, decision } : fault('it has no "id"');
    default:
      return fault(type === undefined ? 'it has no "type"' : `its type is ${JSON.stringify(type)}`);
  }
}

function fault(why: string): InputLine {
  return { type: "fault", message: `${why}; ${SHAPES}.` };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
