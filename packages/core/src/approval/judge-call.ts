import type { ApprovalMode } from "@burin/contract/approval-mode";
import { type Confirmation, HARMLESS_KINDS, type ToolKind } from "@burin/contract/tools";
import {
  type CommandLocation,
  explainProtectedFile,
  type Rule,
  type Rules,
  ruleCovers,
  type Verdict,
} from "@burin/shell-judge";

export interface ApprovalRequest {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly confirmation: Confirmation | false;
  /** What rule patterns are compared with: paths relative to the root, hosts. */
  readonly subjects: readonly string[];
  /** Facts about the place where a command runs. The confirmation names its folder. */
  readonly place?: CommandLocation;
}

/** Judges any call except a command line. Deny beats ask beats allow; otherwise the mode and the tool decide. */
export function judgeCall(request: ApprovalRequest, mode: ApprovalMode, rules: Rules): Verdict {
  const { confirmation } = request;
  const denied = rules.deny.find((rule) => ruleCovers(rule, request, "some"));
  if (denied) return createVerdict("deny", denied, `the rule deny ${denied.text} forbids it`);
  if (mode === "plan" && !HARMLESS_KINDS.has(request.kind)) {
    return { verdict: "deny", reason: "plan mode allows no changes; leave it with exit_plan_mode first" };
  }
  const asked = rules.ask.find((rule) => ruleCovers(rule, request, "some"));
  if (asked) return { ...createVerdict("ask", asked, `the rule ask ${asked.text} demands it`), grants: [] };
  // The purpose of a form is an answer from the user, so no rule and no mode can replace it.
  if (confirmation !== false && confirmation.kind === "form")
    return { verdict: "ask", reason: "the model asks you something", grants: [] };
  // Without a user's answer nothing opens the folder, so no mode can replace it.
  if (confirmation !== false && confirmation.kind === "info" && confirmation.folder !== undefined)
    return { verdict: "ask", reason: "it reads in a folder outside the project", grants: [] };
  if (request.kind === "edit" && mode !== "yolo") {
    const reason = findProtectedReason(request);
    if (reason !== null) return { verdict: "ask", reason, grants: [] };
  }
  const allowed = rules.allow.find((rule) => ruleCovers(rule, request, "every"));
  if (allowed) return createVerdict("allow", allowed, `the rule allow ${allowed.text} covers it`);
  const granted = rules.granted?.find(
    (rule) => ruleCovers(rule, request, "every") && isAboutFile(rule, request),
  );
  if (granted) return createVerdict("allow", granted, `the grant ${granted.text} covers it`);
  if (confirmation === false) return { verdict: "allow", reason: `${request.tool} needs no approval` };
  if (mode === "yolo") return { verdict: "allow", reason: "the approval mode is yolo" };
  if ((mode === "auto-edit" || mode === "auto") && request.kind === "edit") {
    return { verdict: "allow", reason: `the approval mode is ${mode}` };
  }
  const reason = `${request.tool} asks before it acts, and no rule allows this call`;
  const widths = buildEditWidths(request, confirmation);
  return widths === null
    ? { verdict: "ask", reason, grants: confirmation.grants }
    : { verdict: "ask", reason, grants: widths.wide, widths };
}

const EDITING = ["edit", "write_file"];

/** Returns the rules for an "always" to an edit: for the folder by default, or for the file or all edits. */
function buildEditWidths({ tool, subjects }: ApprovalRequest, { kind, grants }: Confirmation): Widths | null {
  const [path, ...others] = subjects;
  const isWhole = grants.length === 1 && grants[0] === tool;
  if (kind !== "edit" || !isWhole || path === undefined || others.length > 0) return null;
  // Only paths without pattern characters that do not lead above the root.
  if (!/^(?![/~]|[a-z]:)(?!.*(?:^|\/)\.\.(?:\/|$))[^*?[\]{}!()\\]+$/i.test(path)) return null;
  const tools = EDITING.includes(tool) ? EDITING : [tool];
  const listRules = (pattern: string) => tools.map((name) => `${name}(${pattern})`);
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  const exact = listRules(path);
  return { exact, wide: folder === "" ? exact : listRules(`${folder}/**`), all: grants };
}

type Widths = NonNullable<Verdict["widths"]>;

/** Whether the grant covers this file: a grant for a folder does not cover a file that a link in it points to. */
function isAboutFile({ pattern }: Rule, { tool, confirmation, subjects }: ApprovalRequest): boolean {
  if (pattern === undefined || confirmation === false || confirmation.kind !== "edit") return true;
  if (!EDITING.includes(tool)) return true;
  const path = confirmation.path.replaceAll("\\", "/");
  return subjects.every((subject) => path.endsWith(`/${subject}`));
}

function createVerdict(verdict: Verdict["verdict"], rule: Rule, reason: string): Verdict {
  return { verdict, reason, rule: rule.text };
}

/** Returns why an edit needs the user's approval: files that run code later are never changed without it. */
function findProtectedReason({ confirmation, subjects }: ApprovalRequest): string | null {
  const paths = confirmation !== false && confirmation.kind === "edit" ? [confirmation.path] : [];
  for (const path of [...subjects, ...paths]) {
    const what = explainProtectedFile(path);
    if (what !== null) return `${path} is protected (${what}), so no rule and no mode but yolo allows it`;
  }
  return null;
}
