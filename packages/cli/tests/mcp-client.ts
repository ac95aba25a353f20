import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BURIN, buildEnvironment } from "./burin.ts";

export interface ClientOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Of 2026; without it the protocol is that of 2025. */
  readonly isModern?: boolean;
  /** What the user of the client says to a question; without it the client cannot ask. */
  readonly says?: (message: string) => string | null;
  readonly roots?: readonly string[];
}

export interface Connected {
  readonly client: Client;
  readonly pid: number;
  /** What the tool answers, as text. */
  readonly call: (name: string, args: Record<string, unknown>) => Promise<{ text: string; isError: boolean }>;
}

function capabilitiesOf({ says, roots }: ClientOptions) {
  return {
    ...(says ? { elicitation: { form: {} } } : {}),
    ...(roots ? { roots: { listChanged: true } } : {}),
  };
}

/** The protocol's own client, before it is connected. */
export function newClient(options: ClientOptions): Client {
  const mode = options.isModern ? ("auto" as const) : ("legacy" as const);
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: capabilitiesOf(options), versionNegotiation: { mode } },
  );
  const { says, roots } = options;
  if (says) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const decision = says(params.message);
      return decision === null
        ? { action: "decline" as const }
        : { action: "accept" as const, content: { decision } };
    });
  }
  if (roots)
    client.setRequestHandler("roots/list", () => ({
      roots: roots.map((path) => ({ uri: `file://${path}` })),
    }));
  return client;
}

/** A client of `burin serve mcp`, the command line as it ships. */
export async function connect(cwd: string, options: ClientOptions = {}): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BURIN, "serve", "mcp", ...(options.args ?? [])],
    cwd,
    env: buildEnvironment(cwd, options.env),
    stderr: "ignore",
  });
  const client = newClient(options);
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, call: createCaller(client) };
}

export function createCaller(client: Client): Connected["call"] {
  return async (name, args) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    const texts = content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`));
    return { text: texts.join("\n"), isError };
  };
}
