export {
  type AiSdkCall,
  type AiSdkContent,
  type AiSdkMessage,
  type AiSdkSchema,
  type AiSdkTool,
  type AiSdkToolResult,
  aiSdk,
} from "./adapters/ai-sdk.ts";
export type { ToolboxPart } from "./adapters/answers.ts";
export {
  type AnthropicContent,
  type AnthropicTool,
  type AnthropicToolResult,
  anthropic,
} from "./adapters/anthropic.ts";
export { type GeminiCall, type GeminiTool, gemini } from "./adapters/gemini.ts";
export {
  type LangChainCall,
  type LangChainContent,
  type LangChainMessage,
  type LangChainTool,
  langchain,
} from "./adapters/langchain.ts";
export {
  type OpenAIContent,
  type OpenAIMessage,
  type OpenAITool,
  type OpenAIToolCall,
  openai,
} from "./adapters/openai.ts";
export {
  type ResponsesContent,
  type ResponsesItem,
  type ResponsesTool,
  responses,
} from "./adapters/responses.ts";
