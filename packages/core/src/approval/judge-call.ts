import type { ApprovalMode } from "@burin/contract/approval-mode";
import { type Confirmation, HARMLESS, type ToolKind } from "@burin/contract/tools";
import {
  type CommandPlace,
  protectedFile,
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
  /** Facts about where a command runs; the confirmation has its folder. */
  readonly place?: CommandPlace;
}

/** For all but command lines: deny beats ask beats allow; without a rule, mode and question of the tool decide. */
export function judgeCall(request: ApprovalRequest, mode: ApprovalMode, rules: Rules): Verdict {
  const { confirmation } = request;
  const denied = rules.deny.find((rule) => ruleCovers(rule, request, "some"));
  if (denied) return decided("deny", denied, `the rule deny ${denied.text} forbids it`);
  if (mode === "plan" && !HARMLESS.has(request.kind)) {
    return { verdict: "deny", reason: "plan mode allows no changes; leave it with exit_plan_mode first" };
  }
  const asked = rules.ask.find((rule) => ruleCovers(rule, request, "some"));
  if (asked) return { ...decided("ask", asked, `the rule ask ${asked.text} demands it`), grants: [] };
  // An answer of the user is what it is for: no rule and no mode can give it.
  if (confirmation !== false && confirmation.kind === "form")
    return { verdict: "ask", reason: "the model asks you something", grants: [] };
  if (request.kind === "edit" && mode !== "yolo") {
    const reason = protectedReason(request);
    if (reason !== null) return { verdict: "ask", reason, grants: [] };
  }
  const allowed = rules.allow.find((rule) => ruleCovers(rule, request, "every"));
  if (allowed) return decided("allow", allowed, `the rule allow ${allowed.text} covers it`);
  const granted = rules.granted?.find(
    (rule) => ruleCovers(rule, request, "every") && isAboutFile(rule, request),
  );
  if (granted) return decided("allow", granted, `the grant ${granted.text} covers it`);
  if (confirmation === false) return { verdict: "allow", reason: `${request.tool} needs no approval` };
  if (mode === "yolo") return { verdict: "allow", reason: "the approval mode is yolo" };
  if ((mode === "auto-edit" || mode === "auto") && request.kind === "edit") {
    return { verdict: "allow", reason: `the approval mode is ${mode}` };
  }
  const reason = `${request.tool} asks before it acts, and no rule allows this call`;
  const widths = editWidths(request, confirmation);
  return widths === null
    ? { verdict: "ask", reason, grants: confirmation.grants }
    : { verdict: "ask", reason, grants: widths.wide, widths };
}

const EDITING = ["edit", "write_file"];

/** An "always" for an edit is for the folder, unless the user chooses the file alone, or all that the tool edits. */
function editWidths({ tool, subjects }: ApprovalRequest, { kind, grants }: Confirmation): Widths | null {
  const [path, ...others] = subjects;
  const isWhole = grants.length === 1 && grants[0] === tool;
  if (kind !== "edit" || !isWhole || path === undefined || others.length > 0) return null;
  // No character of a pattern, and not above the root.
  if (!/^(?![/~]|[a-z]:)(?!.*(?:^|\/)\.\.(?:\/|$))[^*?[\]{}!()\\]+$/i.test(path)) return null;
  const tools = EDITING.includes(tool) ? EDITING : [tool];
  const rules = (pattern: string) => tools.map((name) => `${name}(${pattern})`);
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  const exact = rules(path);
  return { exact, wide: folder === "" ? exact : rules(`${folder}/**`), all: grants };
}

type Widths = NonNullable<Verdict["widths"]>;

/** A grant for a folder is not for what a link in it leads to. */
function isAboutFile({ pattern }: Rule, { tool, confirmation, subjects }: ApprovalRequest): boolean {
  if (pattern === undefined || confirmation === false || confirmation.kind !== "edit") return true;
  if (!EDITING.includes(tool)) return true;
  const path = confirmation.path.replaceAll("\\", "/");
  return subjects.every((subject) => path.endsWith(`/${subject}`));
}

function decided(verdict: Verdict["verdict"], rule: Rule, reason: string): Verdict {
  return { verdict, reason, rule: rule.text };
}

/** Files that run code later are never changed without the user's approval for this one change. */
function protectedReason({ confirmation, subjects }: ApprovalRequest): string | null {
  const paths = confirmation !== false && confirmation.kind === "edit" ? [confirmation.path] : [];
  for (const path of [...subjects, ...paths]) {
    const what = protectedFile(path);
    if (what !== null) return `${path} is protected (${what}), so no rule and no mode but yolo allows it`;
  }
  return null;
}
