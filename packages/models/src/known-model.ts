import type { ModelPrice } from "@burin/contract/settings/settings";
import { MODEL_TABLE } from "./model-table.ts";

export interface KnownModel {
  readonly name: string;
  readonly window: number;
  readonly maxOutput: number;
  readonly images: boolean;
  readonly price: ModelPrice;
}

/** What the table says of the model, under whatever name a service has it; undefined for one that it does not know. */
export function knownModel(name: string): KnownModel | undefined {
  const plain = plainName(name);
  const at = MODEL_TABLE.indexOf(`\n${plain} `) + 1;
  if (at === 0 || plain === "") return undefined;
  return readRow(MODEL_TABLE.slice(at, MODEL_TABLE.indexOf("\n", at)));
}

export function knownModels(): KnownModel[] {
  return MODEL_TABLE.trim().split("\n").map(readRow);
}

function readRow(row: string): KnownModel {
  const [name = "", window, maxOutput, sees, input, output, cached] = row.split(" ");
  return {
    name,
    window: Number(window),
    maxOutput: Number(maxOutput),
    images: sees === "images",
    price: { input: Number(input), output: Number(output), cached: Number(cached) },
  };
}

/** Without the maker, the cloud, the date and the tags that services put around a name, and with one sign for dots. */
function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z-]+\.)?anthropic\./, "")
    .replace(/:[a-z]+$/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:\d{4}-\d\d-\d\d|\d{8})$/, "")
    .replaceAll(".", "-");
}
