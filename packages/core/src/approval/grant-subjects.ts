import { NETWORK_PREFIX } from "./host-grants.ts";

/** What an "always" would allow from then on, for front ends that describe it in words. */
export interface GrantSubject {
  /**
   * What the grant covers. `command`: exactly this command. `commands`: the command with any further arguments. `file`,
   * `folder`, `edits`: changes to one file, to all files in a folder, to any file. `rule`: no simpler description than
   * the rule itself.
   */
  readonly kind:
    | "command"
    | "commands"
    | "write"
    | "host"
    | "file"
    | "folder"
    | "edits"
    | "site"
    | "tool"
    | "rule";
  readonly what: string;
}

const EDITING = new Set(["edit", "write_file"]);

/** Returns the subjects of the rules without duplicates: users do not care that two tools share a subject. */
export function listGrantSubjects(rules: readonly string[]): GrantSubject[] {
  const all = new Map<string, GrantSubject>();
  for (const rule of rules) {
    const subject = parseGrantSubject(rule);
    all.set(`${subject.kind} ${subject.what}`, subject);
  }
  return [...all.values()];
}

function parseGrantSubject(rule: string): GrantSubject {
  const [, tool = rule, , pattern] = /^([^()]+)(\(([\s\S]*)\))?$/.exec(rule) ?? [];
  if (pattern === undefined)
    return EDITING.has(tool) ? { kind: "edits", what: "" } : { kind: "tool", what: tool };
  if (tool === "run_shell_command") return parseCommandSubject(pattern);
  if (EDITING.has(tool)) {
    const folder = /^([^*?[\]{}]+)\/\*\*$/.exec(pattern)?.[1];
    return folder === undefined ? { kind: "file", what: pattern } : { kind: "folder", what: folder };
  }
  if (pattern.startsWith("domain:")) return { kind: "site", what: pattern.slice("domain:".length) };
  return pattern.startsWith("definition:") ? { kind: "tool", what: tool } : { kind: "rule", what: rule };
}

function parseCommandSubject(pattern: string): GrantSubject {
  if (pattern.startsWith(NETWORK_PREFIX)) return { kind: "host", what: pattern.slice(NETWORK_PREFIX.length) };
  if (pattern.startsWith("> ")) return { kind: "write", what: pattern.slice(2) };
  if (pattern.endsWith(";")) return { kind: "command", what: pattern.slice(0, -1) };
  return { kind: "commands", what: pattern.replace(/ \*$/, "") };
}
