import type { ModelPrice } from "@burin/contract/settings/settings";
import table from "./model-table.json" with { type: "json" };

export const TABLE_DATE = table.date;

export interface KnownModel {
  readonly name: string;
  readonly window: number;
  readonly maxOutput: number;
  readonly images: boolean;
  readonly price: ModelPrice;
}

/** Looks the model up in the table, whatever a service calls it; undefined for an unknown model. */
export function findKnownModel(name: string): KnownModel | undefined {
  const start = `${normalizeModelName(name)} `;
  const row = table.models.find((model) => model.startsWith(start));
  return row === undefined ? undefined : readRow(row);
}

export function listKnownModels(): KnownModel[] {
  return table.models.map(readRow);
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

/** Returns the name without maker, cloud, date and tags, and with hyphens instead of dots. */
function normalizeModelName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z-]+\.)?(?:anthropic|openai)\./, "")
    .replace(/:[a-z]+$/, "")
    .replace(/-(?:v\d+(?::\d+)?|\d+:\d+)$/, "")
    .replace(/[-@](?:\d{4}-\d\d-\d\d|\d{8})$/, "")
    .replaceAll(".", "-");
}
