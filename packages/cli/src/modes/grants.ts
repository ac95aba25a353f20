import { realpath } from "node:fs/promises";
import { burinHome, type GrantStore, openGrants, type StoredGrant } from "@burin/core";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { type Output, visible } from "../terminal/output.ts";

/** Lists the rules that the user allowed with "always", and revokes them. */
export async function runGrants({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [action = "list", chosen, tooMuch] = words;
  const store = await openGrants(burinHome(process.env));
  if (action === "list" && chosen === undefined) {
    const project = await realpath(options.root).catch(() => options.root);
    printList(await store.all(), { project, isText: options.outputFormat === "text", output });
    return EXIT.done;
  }
  if (action === "revoke" && chosen !== undefined && tooMuch === undefined) {
    const gone = await revoke(store, chosen);
    if (options.outputFormat !== "text") output.out(`${JSON.stringify({ revoked: gone })}\n`);
    else for (const grant of gone) output.out(`Revoked ${oneLine(grant.rule)} (${scopeOf(grant)}).\n`);
    return EXIT.done;
  }
  throw new UsageError(
    "write burin grants, or burin grants revoke <number|rule> with a number or a rule from that list.",
  );
}

interface Listing {
  readonly project: string;
  readonly isText: boolean;
  readonly output: Output;
}

function printList(grants: readonly StoredGrant[], { project, isText, output }: Listing): void {
  if (!isText) {
    const list = grants.map((grant, index) => ({ number: index + 1, ...grant, scope: scopeName(grant) }));
    output.out(`${JSON.stringify(list, null, 2)}\n`);
    return;
  }
  if (grants.length === 0)
    output.out('Nothing is granted: no question was answered with "always" for a project or everywhere.\n');
  grants.forEach((grant, index) => {
    const scope = grant.project === project ? `this project, ${project}` : scopeOf(grant);
    const when = grant.when.slice(0, 16).replace("T", " ");
    output.out(
      `${String(index + 1).padStart(3)}  ${oneLine(grant.rule)}  (${oneLine(`${scope}, ${when}`)})\n`,
    );
  });
}

function scopeName({ project }: StoredGrant): "project" | "everywhere" {
  return project === undefined ? "everywhere" : "project";
}

function scopeOf({ project }: StoredGrant): string {
  return project === undefined ? "everywhere" : `project ${oneLine(project)}`;
}

/** A number refers to the list; a rule is revoked in every place where it applies. */
async function revoke(store: GrantStore, chosen: string): Promise<readonly StoredGrant[]> {
  const all = await store.all();
  const named = /^\d+$/.test(chosen) ? all[Number(chosen) - 1] : undefined;
  const isChosen = (grant: StoredGrant) =>
    named === undefined
      ? grant.rule === chosen
      : grant.rule === named.rule && grant.project === named.project;
  const gone = await store.revoke(isChosen);
  if (gone.length > 0) return gone;
  const known = all.map(({ rule }) => rule).join(", ");
  throw new UsageError(
    `there is no grant ${chosen}; ${known === "" ? "nothing is granted" : `granted are: ${known}`}.`,
  );
}

/** A line break in a rule must not look like the next one. */
function oneLine(text: string): string {
  return visible(text.replace(/\n/g, "\\n"));
}
