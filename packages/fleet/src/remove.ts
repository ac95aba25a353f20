import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { endDatabase, findDatabaseFolder, hasDatabase } from "./database.ts";
import { FleetError, type FleetOptions, type FleetRequest } from "./ground.ts";
import { readStanding } from "./standing.ts";
import { formatStanding } from "./states.ts";

/**
 * Removes everything that the fleet has stored on this machine: its own database with all runs and results, and the
 * workers' folders. Says first what will be removed. A database that was named in the request belongs to those who run
 * it, so it is not removed.
 */
export async function removeFleetData(
  request: FleetRequest,
  { home, out, note }: FleetOptions,
): Promise<boolean> {
  if (request.words.length > 0)
    throw new FleetError(`burin fleet remove does not take "${request.words[0]}"`);
  if (request.database !== undefined)
    throw new FleetError(
      "burin fleet remove is for the database of this computer; the schemas burin_fleet and dbos of another one are removed there",
    );
  const top = join(home, "fleet");
  const { data, isInUse } = await endDatabase(home);
  const places = [...new Set([data, top])].filter((place) => existsSync(place));
  if (places.length === 0) {
    note("there is nothing of the fleet here");
    return true;
  }
  if (isInUse) throw new FleetError("other commands of burin fleet use the database: end them first");
  if (!request.yes) {
    const kept = hasDatabase(home) ? readStanding(findDatabaseFolder(home)) : null;
    const tasks = kept === null ? "" : `, with all tasks and results (${formatStanding(kept)})`;
    out(
      `${places.join("\n")}\n\nThis is what the fleet has here${tasks}. To remove it: burin fleet remove --yes\n`,
    );
    return true;
  }
  for (const place of places) await rm(place, { recursive: true, force: true });
  note(`removed ${places.join(" and ")}`);
  return true;
}
