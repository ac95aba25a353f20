import type { MachineCommands } from "@burin/commands/machine";
import type { ServerRequest } from "@burin/commands/processes/server-processes";
import type { Confirmation, ToolSource } from "@burin/contract/tools";
import type { AskModel, McpAnswer, McpQuestion } from "@burin/mcp/client-requests";
import { McpServer } from "@burin/mcp/mcp-server";
import { assignPrefixes } from "@burin/mcp/tool-names";
import type { Questions } from "../scheduler/questions.ts";
import type { DiscoveryFailure } from "../tools/tool-registry.ts";
import type { Home } from "./home.ts";

export interface ServerOptions {
  /** Answers requests of servers that are allowed to ask the model. */
  readonly askModel?: AskModel;
  /** Whether the first prompt waits for servers that have never been connected. */
  readonly areAwaited?: boolean;
}

export interface McpParts {
  readonly home: Home;
  /** The real paths of all folders that tools may use. */
  readonly roots: readonly string[];
  readonly commands: MachineCommands;
  readonly forServers: ServerOptions;
  readonly questions: (() => Promise<Questions>) | undefined;
}

/** Creates a tool source for each MCP server in the settings. Does not start any server. */
export async function openMcpSources(
  { home: { settings, environment, folder: home, root, secrets }, ...parts }: McpParts,
  report: (failure: DiscoveryFailure) => void,
): Promise<ToolSource[]> {
  const [{ findChangeSinceTrust }, { Redactor }] = await Promise.all([
    import("../settings/project-definitions.ts"),
    import("../session/log/redactor.ts"),
  ]);
  const { commands, forServers, questions, roots } = parts;
  const redactor = new Redactor(secrets);
  const prefixes = assignPrefixes(Object.keys(settings.mcpServers));
  const { askModel, areAwaited: isAwaited = false } = forServers;
  const redactText = (text: string) => redactor.redactText(text);
  const common = { home, environment, roots, allowedHosts: settings.web.allowedHosts, clean: redactText };
  const asking = questions ? { askUser: createUserAsker(questions) } : {};
  return Object.entries(settings.mcpServers).map(([alias, definition]) => {
    const source = `mcp:${alias}`;
    const needs = {
      ...common,
      ...asking,
      ...(askModel && definition.sampling ? { askModel } : {}),
      processes: {
        startServer: async (request: ServerRequest) => {
          const fault = findChangeSinceTrust(root, definition.scripts);
          if (fault !== null) throw new Error(fault);
          return commands.startServer(request);
        },
      },
      alias,
      prefix: prefixes.get(alias) ?? "",
      definition,
      isAwaited,
      report: (message: string) => report({ source, message }),
    };
    return new McpServer(needs);
  });
}

/** Passes questions of servers on to the user. An invalid answer counts as no answer. */
function createUserAsker(questions: () => Promise<Questions>) {
  return async (asked: McpQuestion, signal: AbortSignal): Promise<McpAnswer> => {
    const queue = await questions();
    const id = `q_${globalThis.crypto.randomUUID()}`;
    const reason = `the MCP server ${asked.server} asks`;
    const nobody = { callId: null, agent: null, parentCallId: null };
    const question = { id, ...nobody, confirmation: buildConfirmation(asked), reason };
    const decision = await queue.inTurn(() => queue.ask(question, signal), signal).catch(() => null);
    if (decision === null || signal.aborted) return { action: "cancel" };
    if (decision.outcome === "cancel") return { action: "decline" };
    const filled = decision.outcome === "filled" ? { values: decision.values } : {};
    return { action: "accept", ...filled };
  };
}

function buildConfirmation(question: McpQuestion): Confirmation {
  const { server, message } = question;
  if ("url" in question) {
    const title = `The MCP server ${server} asks you to open an address.`;
    return { kind: "info", title, prompt: message, urls: [question.url], grants: [] };
  }
  const title = `The MCP server ${server} has a question.`;
  return { kind: "form", title, server, message, schema: question.schema, grants: [] };
}
