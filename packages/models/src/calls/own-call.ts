import { coerceArguments, schemaError } from "@burin/contract/messages/check-schema";
import type { FunctionCall } from "@burin/contract/messages/message";
import type { PreparedRequest } from "../request/prepare-request.ts";
import { ownArguments } from "../request/wire.ts";
import { unreadArguments } from "./call-arguments.ts";
import { repairedArguments } from "./repair-arguments.ts";

/** A call of a reply as the tools know it: with the name that was meant, and with valid arguments. */
export function ownCall(call: FunctionCall, { tools, ownName }: PreparedRequest): FunctionCall {
  const offered = tools.map(({ name }) => name);
  const wireName = offered.includes(call.name) ? call.name : meantTool(call.name, offered);
  const named = { ...call, name: ownName(wireName), args: ownArguments(call.args) };
  const unread = unreadArguments(call);
  const schema = tools.find(({ name }) => name === wireName)?.parameters;
  if (unread === undefined || !schema) return named;
  const args = repairedArguments(
    unread,
    (value) => schemaError(schema, coerceArguments(schema, value)) === null,
  );
  if (!args) return named;
  const { argsError: _, ...whole } = named;
  return { ...whole, args: ownArguments(args) };
}

/** What some models put before and after the name of a tool: a module, a channel or another mark, a number. */
const BEFORE = /^(?:functions?|tools?|default_api|api)[.:/]+/i;
const BEHIND = /(?:<.*|:\d+|\(\))$/s;

/** The one offered tool that an unknown name means; the name itself when there are several, or none. */
function meantTool(name: string, offered: readonly string[]): string {
  const bare = name.trim().replace(BEHIND, "").replace(BEFORE, "").replace(BEHIND, "");
  if (offered.includes(bare)) return bare;
  const plain = plainOf(bare);
  const [found = name, another] = plain === "" ? [] : offered.filter((one) => plainOf(one) === plain);
  return another === undefined ? found : name;
}

function plainOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
