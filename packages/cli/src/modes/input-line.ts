import type { Confirmation, Decision, GrantScope, PlanFollower } from "@burin/core";

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
  if (!isFields(value)) return fault("it is no object");
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

const SCOPES: readonly GrantScope[] = ["session", "project", "everywhere"];
const FOLLOWERS: readonly PlanFollower[] = ["default", "auto-edit"];

const DECISIONS =
  '{"outcome":"once"}, {"outcome":"always","scope":"session|project|everywhere"} or {"outcome":"cancel","reason":"..."}';
const DECISIONS_OF: Partial<Record<Confirmation["kind"], string>> = {
  edit: `, {"outcome":"edited","content":"..."}`,
  form: `, {"outcome":"filled","values":{...}}`,
  plan: `, {"outcome":"approved_plan","mode":"${FOLLOWERS.join("|")}"}`,
};

/** The decision as a program wrote it; null when it is none that answers such a question. */
export function readDecision(value: unknown, kind: Confirmation["kind"]): Decision | null {
  if (!isFields(value)) return null;
  const { outcome, content, values, reason } = value;
  const scope = SCOPES.find((one) => one === value.scope);
  const mode = FOLLOWERS.find((one) => one === value.mode);
  if (outcome === "once") return { outcome };
  if (outcome === "always" && scope !== undefined) return { outcome, scope };
  if (outcome === "cancel" && reason === undefined) return { outcome };
  if (outcome === "cancel" && typeof reason === "string") return { outcome, reason };
  if (outcome === "edited" && kind === "edit" && typeof content === "string") return { outcome, content };
  if (outcome === "filled" && kind === "form" && isFields(values)) return { outcome, values };
  if (outcome === "approved_plan" && kind === "plan" && mode !== undefined) return { outcome, mode };
  return null;
}

/** How to answer such a question. */
export function decisionsFor(kind: Confirmation["kind"]): string {
  return `${DECISIONS}${DECISIONS_OF[kind] ?? ""}`;
}
