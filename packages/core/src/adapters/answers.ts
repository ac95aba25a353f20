import {
  type FunctionDeclaration,
  type ObjectSchema,
  type Part,
  toParts,
} from "@burin/contract/messages/message";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { type SchemaDialect, schemaFor } from "@burin/models/request/tool-schema";
import { isShownImage } from "@burin/models/request/user-items";
import type { CallAllOptions, CallRequest } from "../assembly/run-calls.ts";
import type { Toolbox, ToolFilter } from "../assembly/toolbox.ts";

/** What an adapter needs of a toolbox. */
export type ToolboxPart = Pick<Toolbox, "tools" | "callAll">;

/** A piece of an answer as every service takes it: text, or a file that its models can look at. */
type Piece = { readonly text: string } | { readonly media: Media };

export interface Media {
  readonly mimeType: ImageType | "application/pdf";
  /** As base64. */
  readonly data: string;
}

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

export interface Answered {
  readonly call: AnsweredCall;
  readonly pieces: readonly Piece[];
  /** Its text in one. */
  readonly text: string;
  readonly media: readonly Media[];
}

/** The tools, with schemas that services of this dialect take: references resolved, an object at the top. */
export function declaredTools(
  toolbox: ToolboxPart,
  filter: ToolFilter | undefined,
  dialect: SchemaDialect = "full",
): FunctionDeclaration[] {
  return toolbox.tools(filter).map(({ parameters, ...named }) => {
    return { ...named, parameters: schemaFor(parameters, dialect) as ObjectSchema };
  });
}

/** Runs the calls of one reply; each gets one answer, in their order. */
export async function answerAll(
  toolbox: ToolboxPart,
  calls: readonly CallRequest[],
  options: CallAllOptions | undefined,
): Promise<Answered[]> {
  const answers = await toolbox.callAll(calls, options);
  return answers.map((call) => {
    const pieces = toParts(call.llmContent).flatMap(piecesOf);
    const media = pieces.flatMap((piece) => ("media" in piece ? [piece.media] : []));
    const said = pieces.flatMap((piece) => ("text" in piece ? [piece.text] : [])).join("\n");
    const files = media.map(({ mimeType }) => mimeType).join(", ");
    const text = said === "" && files !== "" ? `The content follows: ${files}.` : said;
    return { call, pieces, text, media };
  });
}

/** The text, where the protocol has no flag for an error. */
export function markedText({ call, text }: Answered): string {
  return call.status === "success" ? text : `Error: ${text}`;
}

/** One call of a reply. Its arguments are an object, or JSON of one as models write it. */
export function callRequest(id: unknown, name: unknown, args: unknown): CallRequest {
  const value = typeof args === "string" ? parseJson(args.trim() === "" ? "{}" : args) : (args ?? {});
  const named = { ...(typeof id === "string" ? { id } : {}), name: String(name) };
  if (isRecord(value)) return { ...named, args: value };
  const form = typeof args === "string" ? "are not a JSON object" : "must be an object";
  return { ...named, args: {}, argsError: `The arguments ${form}. Repeat the call with a JSON object.` };
}

function piecesOf({ text, thought, inlineData }: Part): Piece[] {
  if (text !== undefined) return thought || text === "" ? [] : [{ text }];
  const { mimeType = "", data } = inlineData ?? {};
  if (data === undefined) return [];
  if (isShownImage(mimeType) || mimeType === "application/pdf") {
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

export function dataUrl({ mimeType, data }: Media): string {
  return `data:${mimeType};base64,${data}`;
}
