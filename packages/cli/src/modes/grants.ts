import { realpath } from "node:fs/promises";
import { type GrantStore, openGrants, resolveBurinHome, type StoredGrant } from "@burin/core/internal";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { formatLocalTime, joinLines, printFindings } from "../terminal/output.ts";

/** Lists the rules that the user allowed with "always", and revokes them. */
export async function run({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [action = "list", chosen, tooMuch] = words;
  const store = await openGrants(resolveBurinHome(process.env));
  if (action === "list" && chosen === undefined) {
    const project = await realpath(options.root).catch(() => options.root);
    const grants = await store.readItems();
    const document = grants.map((grant, index) => {
      return { number: index + 1, ...grant, scope: grant.project === undefined ? "everywhere" : "project" };
    });
    const rows =
      grants.length === 0 ? [NOTHING] : grants.map((grant, index) => formatRow(grant, index, project));
    printFindings(output, options.outputFormat, { document, rows });
    return EXIT.done;
  }
  if (action === "revoke" && chosen !== undefined && tooMuch === undefined) {
    const gone = await revoke(store, chosen);
    if (options.outputFormat !== "text") output.out(`${JSON.stringify({ revoked: gone })}\n`);
    else output.out(joinLines(...gone.map((grant) => `Revoked ${grant.rule} (${describeScope(grant)}).`)));
    return EXIT.done;
  }
  throw new UsageError(
    "write burin grants, or burin grants revoke <number|rule> with a number or a rule from that list.",
  );
}

const NOTHING = 'Nothing is granted: no question was answered with "always" for a project or everywhere.';

function formatRow(grant: StoredGrant, index: number, project: string): string {
  const scope = grant.project === project ? `this project, ${project}` : describeScope(grant);
  return `${String(index + 1).padStart(3)}  ${grant.rule}  (${scope}, ${formatLocalTime(grant.when)})`;
}

function describeScope({ project }: StoredGrant): string {
  return project === undefined ? "everywhere" : `project ${project}`;
}

/** Revokes a rule in every place where it applies. A number refers to the list. */
async function revoke(store: GrantStore, chosen: string): Promise<readonly StoredGrant[]> {
  const all = await store.readItems();
  const named = /^\d+$/.test(chosen) ? all[Number(chosen) - 1] : undefined;
  const isGrantToRevoke = (grant: StoredGrant) =>
    named === undefined
      ? grant.rule === chosen
      : grant.rule === named.rule && grant.project === named.project;
  const gone = await store.revoke(isGrantToRevoke);
  if (gone.length > 0) return gone;
  const known = all.map(({ rule }) => rule).join(", ");
  throw new UsageError(
    `there is no grant ${chosen}; ${known === "" ? "nothing is granted" : `granted are: ${known}`}.`,
  );
}
