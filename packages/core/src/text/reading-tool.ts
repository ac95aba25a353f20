import type { Workspace } from "@burin/contract/machine/workspace";
import { BaseTool, type Confirmation, type PreparedCall } from "@burin/contract/tools";

/**
 * Base class for tools that only read. If a call names a path in a folder beside the project, the user is asked to open
 * that folder; after a yes, all tools can read there until the session ends.
 */
export abstract class ReadingTool<Params extends object> extends BaseTool<Params> {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    super();
    this.#workspace = workspace;
  }

  /** Returns the paths that the call names. */
  protected abstract listPaths(params: Params): readonly string[];

  async prepare(params: Params): Promise<PreparedCall> {
    const folder = await this.#findClosedFolder(params);
    return {
      confirmation: folder !== null && buildQuestion(folder, this.getDescription(params)),
      takesEdits: false,
      run: async (approval, signal) => {
        // Without a yes the folder stays closed, and reading fails as it does everywhere outside.
        if (approval !== null && folder !== null) await this.#workspace.openFolder?.(folder);
        return this.execute(params, signal);
      },
    };
  }

  override async shouldConfirmExecute(params: Params, _signal: AbortSignal): Promise<Confirmation | false> {
    return (await this.prepare(params)).confirmation;
  }

  async #findClosedFolder(params: Params): Promise<string | null> {
    for (const path of this.listPaths(params)) {
      const folder = (await this.#workspace.findClosedFolder?.(trimPattern(path))) ?? null;
      if (folder !== null) return folder;
    }
    return null;
  }
}

/** Returns the path up to its first segment with a special character. */
function trimPattern(path: string): string {
  const segments = path.split("/");
  const first = segments.findIndex((segment) => /[*?[{(\\]/.test(segment));
  return first === -1 ? path : segments.slice(0, first).join("/") || "/";
}

function buildQuestion(folder: string, prompt: string): Confirmation {
  return {
    kind: "info",
    title: `Read in ${folder}, outside the project?`,
    prompt,
    urls: [],
    grants: [],
    folder,
  };
}
