import { coerceArguments, findSchemaError } from "@burin/contract/messages/check-schema";
import type { FunctionCall } from "@burin/contract/messages/message";
import type { PreparedRequest } from "../request/prepare-request.ts";
import { fromWireArguments } from "../request/wire.ts";
import { findUnreadArguments } from "./call-arguments.ts";
import { repairArguments } from "./repair-arguments.ts";

/** Returns a call in terms of our tools: with the name of the tool that the model meant, and with valid arguments. */
export function resolveCall(call: FunctionCall, { tools, ownName }: PreparedRequest): FunctionCall {
  const offered = tools.map(({ name }) => name);
  const wireName = offered.includes(call.name) ? call.name : findMeantTool(call.name, offered);
  const named = { ...call, name: ownName(wireName), args: fromWireArguments(call.args) };
  const unread = findUnreadArguments(call);
  const schema = tools.find(({ name }) => name === wireName)?.parameters;
  if (unread === undefined || !schema) return named;
  const args = repairArguments(
    unread,
    (value) => findSchemaError(schema, coerceArguments(schema, value)) === null,
  );
  if (!args) return named;
  const { argsError: _, ...whole } = named;
  return { ...whole, args: fromWireArguments(args) };
}

/** What some models put before or after a tool's name: a module, a channel or another mark, a number. */
const BEFORE = /^(?:functions?|tools?|default_api|api)[.:/]+/i;
const BEHIND = /(?:<.*|:\d+|\(\))$/s;

/** Returns the one offered tool that an unknown name can mean; the name itself if there are several or none. */
function findMeantTool(name: string, offered: readonly string[]): string {
  const bare = name.trim().replace(BEHIND, "").replace(BEFORE, "").replace(BEHIND, "");
  if (offered.includes(bare)) return bare;
  const plain = normalizeName(bare);
  const [found = name, another] = plain === "" ? [] : offered.filter((one) => normalizeName(one) === plain);
  return another === undefined ? found : name;
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
