import { NETWORK } from "./host-grants.ts";

/** What an "always" would allow from then on, for faces that say it in words. */
export interface GrantSubject {
  /**
   * `command`: that very command. `commands`: it with anything behind it. `file`, `folder`, `edits`: changes of one file, of
   * all in a folder, of any file. `rule`: nothing simpler is known than the rule itself.
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

/** The subjects of rules, each once: that two tools share it is nothing for a user. */
export function grantSubjects(rules: readonly string[]): GrantSubject[] {
  const all = new Map<string, GrantSubject>();
  for (const rule of rules) {
    const subject = subjectOf(rule);
    all.set(`${subject.kind} ${subject.what}`, subject);
  }
  return [...all.values()];
}

function subjectOf(rule: string): GrantSubject {
  const [, tool = rule, , pattern] = /^([^()]+)(\(([\s\S]*)\))?$/.exec(rule) ?? [];
  if (pattern === undefined)
    return EDITING.has(tool) ? { kind: "edits", what: "" } : { kind: "tool", what: tool };
  if (tool === "run_shell_command") return commandSubject(pattern);
  if (EDITING.has(tool)) {
    const folder = /^([^*?[\]{}]+)\/\*\*$/.exec(pattern)?.[1];
    return folder === undefined ? { kind: "file", what: pattern } : { kind: "folder", what: folder };
  }
  if (pattern.startsWith("domain:")) return { kind: "site", what: pattern.slice("domain:".length) };
  return pattern.startsWith("definition:") ? { kind: "tool", what: tool } : { kind: "rule", what: rule };
}

function commandSubject(pattern: string): GrantSubject {
  if (pattern.startsWith(NETWORK)) return { kind: "host", what: pattern.slice(NETWORK.length) };
  if (pattern.startsWith("> ")) return { kind: "write", what: pattern.slice(2) };
  if (pattern.endsWith(";")) return { kind: "command", what: pattern.slice(0, -1) };
  return { kind: "commands", what: pattern.replace(/ \*$/, "") };
}
