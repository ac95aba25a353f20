import {
  type FunctionDeclaration,
  type ObjectSchema,
  type Part,
  toParts,
} from "@burin/contract/messages/message";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { type SchemaDialect, simplifySchema } from "@burin/models/request/tool-schema";
import { isSupportedImage } from "@burin/models/request/user-items";
import type { CallAllOptions, CallRequest } from "../assembly/run-calls.ts";
import type { Toolbox, ToolFilter } from "../assembly/toolbox.ts";

/** The part of a toolbox that an adapter uses. */
export type ToolboxPart = Pick<Toolbox, "tools" | "callAll">;

/** A piece of an answer that every service accepts: text, or a file that its models can view. */
type AnswerPiece = { readonly text: string } | { readonly media: Media };

export interface Media {
  readonly mimeType: ImageType | "application/pdf";
  /** The bytes as base64. */
  readonly data: string;
}

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

export interface AdapterAnswer {
  readonly call: AnsweredCall;
  readonly pieces: readonly AnswerPiece[];
  /** All text pieces, joined. */
  readonly text: string;
  readonly media: readonly Media[];
}

/** Returns the declarations with schemas for this dialect: references resolved, an object at the top level. */
export function listDeclarations(
  toolbox: ToolboxPart,
  filter: ToolFilter | undefined,
  dialect: SchemaDialect = "full",
): FunctionDeclaration[] {
  return toolbox.tools(filter).map(({ parameters, ...named }) => {
    return { ...named, parameters: simplifySchema(parameters, dialect) as ObjectSchema };
  });
}

/** Runs the calls of one reply and returns one answer for each, in the same order. */
export async function answerAll(
  toolbox: ToolboxPart,
  calls: readonly CallRequest[],
  options: CallAllOptions | undefined,
): Promise<AdapterAnswer[]> {
  const answers = await toolbox.callAll(calls, options);
  return answers.map((call) => {
    const pieces = toParts(call.llmContent).flatMap(splitPart);
    const media = pieces.flatMap((piece) => ("media" in piece ? [piece.media] : []));
    const said = pieces.flatMap((piece) => ("text" in piece ? [piece.text] : [])).join("\n");
    const files = media.map(({ mimeType }) => mimeType).join(", ");
    const text = said === "" && files !== "" ? `The content follows: ${files}.` : said;
    return { call, pieces, text, media };
  });
}

/** Returns the answer's text. Errors are marked in it, for protocols without an error flag. */
export function formatAnswerText({ call, text }: AdapterAnswer): string {
  return call.status === "success" ? text : `Error: ${text}`;
}

/** Converts one call of a reply. The arguments are an object, or its JSON text as models write it. */
export function createCallRequest(id: unknown, name: unknown, args: unknown): CallRequest {
  const value = typeof args === "string" ? parseJson(args.trim() === "" ? "{}" : args) : (args ?? {});
  const named = { ...(typeof id === "string" ? { id } : {}), name: String(name) };
  if (isRecord(value)) return { ...named, args: value };
  const form = typeof args === "string" ? "are not a JSON object" : "must be an object";
  return { ...named, args: {}, argsError: `The arguments ${form}. Repeat the call with a JSON object.` };
}

function splitPart({ text, thought, inlineData }: Part): AnswerPiece[] {
  if (text !== undefined) return thought || text === "" ? [] : [{ text }];
  const { mimeType = "", data } = inlineData ?? {};
  if (data === undefined) return [];
  if (isSupportedImage(mimeType) || mimeType === "application/pdf") {
    return [{ media: { mimeType: mimeType as Media["mimeType"], data } }];
  }
  if (mimeType === "image/svg+xml" || mimeType.startsWith("text/")) {
    return [{ text: Buffer.from(data, "base64").toString("utf8") }];
  }
  return [
    { text: `[A file of type ${mimeType || "unknown"} is left out, because the service does not take it.]` },
  ];
}

export function isImage({ mimeType }: Media): boolean {
  return mimeType !== "application/pdf";
}

export function buildDataUrl({ mimeType, data }: Media): string {
  return `data:${mimeType};base64,${data}`;
}
