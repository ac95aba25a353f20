import { type KeptKey, KeyStore, resolveBurinHome } from "@burin/core/internal";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { formatLocalTime, joinLines, printFindings } from "../terminal/output.ts";

/** Lists which services' keys are stored for all starts, without showing the keys, and removes them. */
export async function run({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [action = "list", chosen, tooMuch] = words;
  const store = new KeyStore(resolveBurinHome(process.env), process.env);
  const all = await store.list();
  if (action === "list" && chosen === undefined) {
    const rows = all.length === 0 ? [NOTHING] : all.map((key, index) => formatRow(key, index, store.file));
    printFindings(output, options.outputFormat, { document: all, rows });
    return EXIT.done;
  }
  if (action === "remove" && chosen !== undefined && tooMuch === undefined) {
    const { variable = chosen, host } =
      all[Number(chosen) - 1] ?? all.find((one) => one.variable === chosen || one.host === chosen) ?? {};
    if (!(await store.remove(variable)))
      throw new UsageError(`there is no kept key ${chosen}. ${listNames(all)}`);
    if (options.outputFormat !== "text") output.out(`${JSON.stringify({ removed: variable })}\n`);
    else output.out(joinLines(`Removed the key of ${host} (${variable}).`));
    return EXIT.done;
  }
  throw new UsageError("write burin keys, or burin keys remove <number|variable|host>.");
}

const NOTHING = "No key is kept. The app asks whether to keep one that you paste.";

function formatRow({ variable, host, place, keptAt }: KeptKey, index: number, file: string): string {
  const where = place === "keychain" ? "in the keychain" : `in ${file}`;
  return `${String(index + 1).padStart(3)}  ${host}  ${variable}  (${where}, ${formatLocalTime(keptAt)})`;
}

function listNames(all: readonly KeptKey[]): string {
  const names = all.map(({ variable }) => variable).join(", ");
  return names === "" ? NOTHING : `Kept are: ${names}.`;
}
