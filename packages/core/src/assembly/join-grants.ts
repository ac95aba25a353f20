import { messageOf } from "@burin/contract/text/error-message";
import type { GrantScope } from "@burin/contract/tools";
import { parseRule, type Rule } from "@burin/shell-judge";
import type { GrantStore } from "../settings/grants.ts";

/** What the person answered "always" to, in this session and in those before. */
export interface Grants {
  /** Those of this session alone. */
  readonly session: readonly Rule[];
  /** Those on disk that hold here, as they are now; `fault` says why none of them counts. */
  stored(): Promise<{ readonly rules: readonly Rule[]; readonly fault?: string }>;
  /** Resolves to what the person should know of it, or null. */
  add(rules: readonly string[], scope: GrantScope): Promise<string | null>;
}

/** The grants that a person has stored, to list them and to take them back. */
export async function openGrants(home: string): Promise<GrantStore> {
  const { GrantStore } = await import("../settings/grants.ts");
  return new GrantStore(home);
}

/** Reads nothing before it is asked: most calls need no grant. */
export function grantsOf(home: string, project: string): Grants {
  const session: Rule[] = [];
  let store: Promise<GrantStore> | undefined;
  const opened = () => {
    store ??= openGrants(home);
    return store;
  };
  return {
    session,
    async stored() {
      try {
        const all = await (await opened()).all();
        const here = all.filter((grant) => grant.project === undefined || grant.project === project);
        return { rules: here.map(({ rule }) => parseRule(rule)) };
      } catch (error) {
        return { rules: [], fault: messageOf(error) };
      }
    },
    async add(rules, scope) {
      if (rules.length === 0) return null;
      try {
        if (scope === "project" || scope === "everywhere") {
          await (await opened()).add(rules, scope === "project" ? project : undefined);
          return null;
        }
        session.push(...rules.map(parseRule));
        return null;
      } catch (error) {
        session.push(...rules.map(parseRule));
        return `"always" holds for this session only: ${messageOf(error)}`;
      }
    },
  };
}
