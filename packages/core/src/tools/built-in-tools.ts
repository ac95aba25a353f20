import type { MachineCommands } from "@burin/commands/machine";
import type { Workspace } from "@burin/contract/machine/workspace";
import type { Tool } from "@burin/contract/tools";
import { Edit, type EditOptions } from "./edit.ts";
import { ExitPlanMode, type Planning } from "./exitPlanMode.ts";
import { Glob } from "./glob.ts";
import { Grep } from "./grep.ts";
import { ListFiles } from "./ls.ts";
import { type MemoryFiles, SaveMemory } from "./memoryTool.ts";
import { ReadFile, type ReadFileOptions } from "./read-file.ts";
import { ReadManyFiles } from "./read-many-files.ts";
import { Shell } from "./shell.ts";
import { type Subagents, Task } from "./task.ts";
import { TodoWrite } from "./todoWrite.ts";
import { WebFetch, type WebFetchOptions } from "./web-fetch.ts";
import { WebSearch, type WebSearcher } from "./web-search.ts";
import { WriteFile, type WriteFileOptions } from "./write-file.ts";

/** What the built-in tools need. Each tool gets only the part that it uses. */
export interface BuiltInOptions extends ReadFileOptions, WriteFileOptions, EditOptions, WebFetchOptions {
  readonly workspace: Workspace;
  readonly commands: MachineCommands;
  readonly memory: MemoryFiles;
  readonly planning: Planning;
  /** Absent if there is no model. */
  readonly subagents?: Subagents | undefined;
  /** Absent if there is no search service. */
  readonly searcher?: WebSearcher | undefined;
}

/** Creates all built-in tools. This is their only list. */
export function createBuiltInTools(needs: BuiltInOptions): Tool[] {
  const { workspace, svgAsText, maxCharacters, overwriteUnread, correctEdit } = needs;
  const { allowedHosts, answerFromPage, environment } = needs;
  return [
    new ListFiles(workspace),
    new ReadFile(workspace, { svgAsText, maxCharacters }),
    new WriteFile(workspace, { overwriteUnread }),
    new ReadManyFiles(workspace),
    new Edit(workspace, { correctEdit }),
    new Glob(workspace),
    new Grep(workspace),
    ...(needs.commands.cannotRun ? [] : [new Shell(workspace, needs.commands)]),
    new WebFetch({ allowedHosts, answerFromPage, environment }),
    new WebSearch(needs.searcher),
    new SaveMemory(needs.memory),
    new Task(needs.subagents),
    new TodoWrite(),
    new ExitPlanMode(needs.planning),
  ] as Tool[];
}
