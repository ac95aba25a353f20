import type { Workspace } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import type { Tool } from "@burin/contract/tools";
import type { MachineCommands } from "@burin/machine/machine";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { Edit } from "./edit.ts";
import { ExitPlanMode, type Planning } from "./exitPlanMode.ts";
import { Glob } from "./glob.ts";
import { Grep } from "./grep.ts";
import { ListFiles } from "./ls.ts";
import { type MemoryPlaces, SaveMemory } from "./memoryTool.ts";
import { ReadFile } from "./read-file.ts";
import { ReadManyFiles } from "./read-many-files.ts";
import { Shell } from "./shell.ts";
import { type Subagents, Task } from "./task.ts";
import { TodoWrite } from "./todoWrite.ts";
import { type AnswerFromPage, WebFetch } from "./web-fetch.ts";
import { WebSearch, type WebSearcher } from "./web-search.ts";
import { WriteFile } from "./write-file.ts";

/** The needs of the built-in tools; each tool gets only the part that it uses. */
export interface BuiltInNeeds {
  readonly workspace: Workspace;
  readonly commands: MachineCommands;
  readonly svgAsText: boolean;
  /** Per answer, when the model's window has room for less than usual. */
  readonly mostAnswerCharacters?: number | undefined;
  readonly overwriteUnread: boolean;
  readonly memory: MemoryPlaces;
  readonly planning: Planning;
  /** Absent without a model. */
  readonly subagents?: Subagents | undefined;
  readonly web: Settings["web"];
  readonly environment: NodeJS.ProcessEnv;
  /** Absent without a search service. */
  readonly searcher?: WebSearcher | undefined;
  /** Absent without a model. */
  readonly answerFromPage?: AnswerFromPage | undefined;
  /** Absent without a model, or when the user turned it off. */
  readonly correctEdit?: CorrectEdit | undefined;
}

/** The one list of built-in tools, and what each is given. */
export function builtInTools(needs: BuiltInNeeds): Tool[] {
  const { workspace, svgAsText, overwriteUnread, correctEdit, answerFromPage, environment } = needs;
  return [
    new ListFiles(workspace),
    new ReadFile(workspace, { svgAsText, mostCharacters: needs.mostAnswerCharacters }),
    new WriteFile(workspace, { overwriteUnread }),
    new ReadManyFiles(workspace),
    new Edit(workspace, correctEdit ? { correctEdit } : {}),
    new Glob(workspace),
    new Grep(workspace),
    new Shell(workspace, needs.commands),
    new WebFetch({ allowedHosts: needs.web.allowedHosts, answerFromPage, environment }),
    new WebSearch(needs.searcher),
    new SaveMemory(needs.memory),
    new Task(needs.subagents),
    new TodoWrite(),
    new ExitPlanMode(needs.planning),
  ] as Tool[];
}
