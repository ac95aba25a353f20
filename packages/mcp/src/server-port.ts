/** The progress of a call, as its server reports it. */
export interface CallProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface CallRequest {
  /** The server's own name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly inputSchema: object;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CallProgress) => void;
  /** Whether it may run twice if the connection breaks. */
  readonly mayRepeat: boolean;
}

/** How the user takes part in a login. */
export interface McpLogin {
  /** Called with the address that the user has to open in a browser. */
  readonly onAddress: (url: URL) => void;
  /** What the user pastes if the browser cannot redirect to this machine: the address or the code in it. */
  readonly pasted?: Promise<string>;
}

/** A connection as tools and doors use it. The types are our own, for programs that embed the core without the SDK. */
export interface ServerLine {
  callTool(request: CallRequest): Promise<unknown>;
  request(method: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  list(what: "prompts" | "resources", signal: AbortSignal): Promise<unknown[]>;
}

interface ListedTool {
  readonly name: string;
  /** The server's own name. */
  readonly plainName: string;
  readonly parameterSchema: object;
}

/** A server for the access to its prompts and resources. */
export interface ServerPort {
  readonly alias: string;
  readonly connection: ServerLine;
  listed(signal: AbortSignal): Promise<readonly ListedTool[]>;
  login(how: McpLogin, signal: AbortSignal): Promise<"logged_in" | "not_needed">;
}
