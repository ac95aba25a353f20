import { randomBytes } from "node:crypto";
import type { PartUnion } from "@burin/contract/messages/parts";
import { untrustedFromServer } from "@burin/contract/text/untrusted-text";

/** Where prompts and resources come from. */
interface ServerWords {
  prompts(signal: AbortSignal): Promise<
    readonly {
      readonly server: string;
      readonly name: string;
      readonly arguments: readonly { readonly name: string }[];
    }[]
  >;
  prompt(
    request: {
      readonly server: string;
      readonly name: string;
      readonly args: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<PartUnion[]>;
  readResource(server: string, uri: string, signal: AbortSignal): Promise<PartUnion[]>;
}

const COMMAND = /^\/([A-Za-z0-9_-]+):(\S+)\s*(.*)$/s;
const MENTION = /(?<=^|\s)@([A-Za-z0-9_-]+):(\S*[^\s.,;:!?)])/g;
const ARGUMENT = /(?:([A-Za-z_][\w-]*)=)?(?:"([^"]*)"|'([^']*)'|(\S+))/g;

/**
 * A prompt of the person with what it names of servers: `/server:prompt` at its start stands for that prompt, and
 * each `@server:uri` brings the resource along. Names of no known server are left as they are.
 */
export async function withServerWords(
  text: string,
  { door, aliases }: { readonly door: ServerWords; readonly aliases: readonly string[] },
  signal: AbortSignal,
): Promise<string> {
  const [, server = "", name = "", rest = ""] = COMMAND.exec(text) ?? [];
  if (aliases.includes(server)) {
    const args = await argumentsOf({ door, server, name }, rest, signal);
    return textOf(await door.prompt({ server, name, args }, signal));
  }
  const brought: string[] = [];
  for (const [, alias = "", uri = ""] of text.matchAll(MENTION)) {
    if (!aliases.includes(alias)) continue;
    const content = textOf(await door.readResource(alias, uri, signal));
    brought.push(untrustedFromServer(content, `${alias}:${uri}`, randomBytes(6).toString("hex")));
  }
  return [text, ...brought].join("\n\n");
}

/** Words without a name are the prompt's arguments in its own order. */
async function argumentsOf(
  { door, server, name }: { readonly door: ServerWords; readonly server: string; readonly name: string },
  rest: string,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const given = [...rest.matchAll(ARGUMENT)].map(([, key, double, single, bare]) => ({
    key,
    value: double ?? single ?? bare ?? "",
  }));
  if (given.length === 0) return {};
  const prompts = await door.prompts(signal);
  const known = prompts.find((prompt) => prompt.server === server && prompt.name === name)?.arguments ?? [];
  const named = Object.fromEntries(
    given.flatMap(({ key, value }) => (key === undefined ? [] : [[key, value]])),
  );
  const open = known.map((one) => one.name).filter((one) => named[one] === undefined);
  const plain = given.flatMap(({ key, value }) => (key === undefined ? [value] : []));
  // With one place left all the words go there, as people write sentences.
  const placed = open.length === 1 ? [plain.join(" ")] : plain;
  for (const [index, value] of placed.entries()) {
    const place = open[index];
    if (place !== undefined && value !== "") named[place] = value;
  }
  return named;
}

function textOf(parts: readonly PartUnion[]): string {
  return parts
    .map((part) => (typeof part === "string" ? part : `[${part.inlineData?.mimeType ?? "data"}]`))
    .join("\n\n");
}
