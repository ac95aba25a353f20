import type { AnsweredCall, JsonSchema, Part, ToolDisplay } from "@burin/core";
import { readExitCode } from "@burin/core/internal";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

type Kind = "edit" | "execute";

const TEXT: JsonSchema = { type: "string", description: "The answer in words, as in `content`." };

/** Structured output for programs, for the kinds of tools that return more than text. */
export const OUTPUT_SCHEMAS: Readonly<Record<Kind, JsonSchema>> = {
  edit: {
    type: "object",
    properties: {
      text: TEXT,
      file: { type: "string" },
      diff: { type: "string", description: "Unified diff of what was changed." },
      addedLines: { type: "integer" },
      removedLines: { type: "integer" },
    },
    required: ["text"],
  },
  execute: {
    type: "object",
    properties: {
      text: TEXT,
      exitCode: { type: ["integer", "null"], description: "null when it did not end by itself." },
    },
    required: ["text", "exitCode"],
  },
};

/** Converts a call's answer to the form of the protocol. */
export function buildCallResult(answer: AnsweredCall, kind: string | undefined): CallToolResult {
  const content = buildContentBlocks(answer);
  if (answer.status !== "success") return { content, isError: true };
  if (kind !== "edit" && kind !== "execute") return { content };
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (kind === "edit") return { content, structuredContent: { text, ...readChange(answer.returnDisplay) } };
  return { content, structuredContent: { text, exitCode: readExitCode(answer.llmContent) } };
}

function readChange(display: ToolDisplay): Record<string, unknown> {
  if (typeof display === "string" || display.kind !== "file_diff") return {};
  const { fileName: file, fileDiff: diff, addedLines, removedLines } = display;
  return { file, diff, addedLines, removedLines };
}

function buildContentBlocks({ llmContent, callId }: AnsweredCall): ContentBlock[] {
  const parts = Array.isArray(llmContent) ? llmContent : [llmContent];
  return parts.flatMap((part, index) =>
    typeof part === "string" ? [buildTextBlock(part)] : buildPartBlock(part, `burin:${callId}/${index}`),
  );
}

export function buildTextBlock(text: string): ContentBlock & { type: "text" } {
  return { type: "text", text };
}

function buildPartBlock({ text, inlineData }: Part, uri: string): ContentBlock[] {
  if (text !== undefined) return [buildTextBlock(text)];
  const { data, mimeType = "application/octet-stream" } = inlineData ?? {};
  if (data === undefined) return [];
  if (mimeType.startsWith("image/")) return [{ type: "image", data, mimeType }];
  if (mimeType.startsWith("audio/")) return [{ type: "audio", data, mimeType }];
  return [{ type: "resource", resource: { uri, mimeType, blob: data } }];
}
