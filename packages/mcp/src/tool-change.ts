import { isRecord, type JsonRecord, stringifySorted } from "@burin/contract/messages/untrusted-json";
import { visibleText } from "@burin/contract/text/visible-text";
import { type OfferedTool, readTools, type ToolDefinition } from "./offered-tools.ts";

const MAX_LINES = 8;
const MAX_SIDE = 160;
/** How many characters before the first difference are shown, so that a reader finds the place. */
const LEAD = 24;

/** Returns how the server's list differs from the tool that was judged; null if the list has exactly that tool. */
export function findChange(judged: OfferedTool, list: readonly unknown[]): readonly string[] | null {
  const named = list.filter((entry) => isRecord(entry) && entry.name === judged.name);
  const [now] = readTools(named).offered;
  if (now?.hash === judged.hash) return null;
  return now === undefined ? [] : describeChange(judged.definition, now.definition);
}

/** Returns a short line for each part that differs, safe to show. */
export function describeChange(before: ToolDefinition, after: ToolDefinition): readonly string[] {
  const [old, fresh] = [splitDefinition(before), splitDefinition(after)];
  const names = [...new Set([...old.keys(), ...fresh.keys()])];
  const lines = names.flatMap((name) => {
    const [was, is] = [old.get(name), fresh.get(name)];
    return was === is ? [] : [`${shortenName(name)}: ${describePart(was, is)}`];
  });
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more differences`] : lines;
}

/** Returns the parts that are compared one by one. A text stands for itself, anything else for its JSON. */
function splitDefinition(definition: ToolDefinition): Map<string, string> {
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  const { properties, ...otherInput } = isRecord(inputSchema) ? inputSchema : { properties: undefined };
  const inputs = isRecord(properties) ? properties : {};
  const parts: JsonRecord = {
    title,
    description,
    ...Object.fromEntries(Object.entries(inputs).map(([name, schema]) => [`input ${name}`, schema])),
    "input schema": isRecord(inputSchema) ? otherInput : inputSchema,
    "output schema": outputSchema,
    annotations,
  };
  const known = Object.entries(parts).filter(([, value]) => value !== undefined);
  return new Map(
    known.map(([name, value]) => [name, typeof value === "string" ? value : stringifySorted(value)]),
  );
}

function describePart(before: string | undefined, after: string | undefined): string {
  if (before === undefined) return `new, ${quoteExcerpt(after ?? "", 0)}`;
  if (after === undefined) return `no longer there, was ${quoteExcerpt(before, 0)}`;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const from = Math.max(same - LEAD, 0);
  return `${quoteExcerpt(before, from)} is now ${quoteExcerpt(after, from)}`;
}

function quoteExcerpt(text: string, from: number): string {
  const end = text.length > from + MAX_SIDE ? "..." : "";
  const part = text.slice(from, from + MAX_SIDE).replace(/\s+/g, " ");
  return `"${from > 0 ? "..." : ""}${visibleText(part)}${end}"`;
}

function shortenName(name: string): string {
  return visibleText(name.replace(/\s+/g, " ").slice(0, 80));
}
