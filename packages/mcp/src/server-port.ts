/** How far a call is, as its server tells it. */
export interface CallProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface CallRequest {
  /** As the server calls it. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly inputSchema: object;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CallProgress) => void;
  /** It may be done twice, should the connection break during it. */
  readonly mayRepeat: boolean;
}

/** How the user takes part in a login. */
export interface McpLogin {
  /** Told where the user has to go with a browser. */
  readonly onAddress: (url: URL) => void;
  /** What the user pastes, where the browser cannot come back to this machine: the address or the code in it. */
  readonly pasted?: Promise<string>;
}

/** A connection as tools and doors use it. The types here are our own, for whoever embeds the core without the SDK. */
export interface ServerLine {
  callTool(request: CallRequest): Promise<unknown>;
  request(method: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  list(what: "prompts" | "resources", signal: AbortSignal): Promise<unknown[]>;
}

interface ListedTool {
  readonly name: string;
  /** As the server calls it. */
  readonly plainName: string;
  readonly parameterSchema: object;
}

/** A server as the door to its prompts and resources uses it. */
export interface ServerPort {
  readonly alias: string;
  readonly connection: ServerLine;
  listed(signal: AbortSignal): Promise<readonly ListedTool[]>;
  login(how: McpLogin, signal: AbortSignal): Promise<"logged_in" | "not_needed">;
}
