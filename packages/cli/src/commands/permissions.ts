import { lines } from "../terminal/output.ts";
import type { CommandDesk } from "./command-desk.ts";

/** What `burin grants` prints, with what was allowed for this session behind it; `revoke` takes back either. */
export async function permissionsText(desk: CommandDesk, words: string): Promise<string> {
  const [, chosen] = /^\s*revoke\s+(.*\S)\s*$/s.exec(words) ?? [];
  const own = desk.session?.grants;
  const rules = own?.rules ?? [];
  const stored = await storedGrants();
  if (chosen === undefined) {
    if (rules.length === 0) return desk.outputOf("grants", words.trim() === "" ? [] : [words.trim()]);
    const rows = rules.map((rule, index) => rowOf(stored + index + 1, rule));
    return `${stored === 0 ? "" : await desk.outputOf("grants", [])}${lines(...rows)}`;
  }
  const rule = /^\d+$/.test(chosen) ? rules[Number(chosen) - stored - 1] : chosen;
  if (rule !== undefined && own?.revoke(rule)) return lines(`Revoked ${rule} (this session).`);
  return desk.outputOf("grants", ["revoke", chosen]);
}

function rowOf(number: number, rule: string): string {
  return `${String(number).padStart(3)}  ${rule}  (this session)`;
}

async function storedGrants(): Promise<number> {
  const { burinHome, openGrants } = await import("@burin/core");
  return (await (await openGrants(burinHome(process.env))).all()).length;
}
