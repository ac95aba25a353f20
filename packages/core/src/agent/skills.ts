import { shownPath } from "@burin/contract/text/shown-path";
import { type Defined, type DefinitionFile, definedIn, definitionFolders } from "./definition-files.ts";

/** What a person has written down on how to do one kind of task, in a folder with a SKILL.md. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

const FILE_NAME = "SKILL.md";
const MOST_DESCRIPTION = 500;

/** The skills in these folders. */
export function skillsIn(folders: readonly string[]): Promise<Defined<Skill>> {
  return definedIn(folders, (folder) => definitionFolders(folder, FILE_NAME), skillOf);
}

function skillOf({ name, path, fields }: DefinitionFile): Skill {
  const { description, name: named } = fields;
  if (typeof description !== "string" || description.trim() === "") {
    throw new Error("has no `description`, by which the model would choose it");
  }
  const line = description.replace(/\s+/g, " ").trim().slice(0, MOST_DESCRIPTION);
  return {
    name: typeof named === "string" && named.trim() !== "" ? named.trim() : name,
    description: line,
    path,
  };
}

/** What the model is told of them; it reads the file of one when a task needs it. */
export function skillsText(skills: readonly Skill[]): string {
  const lines = skills.map(
    ({ name, description, path }) => `- ${shownPath(name)}: ${description} (${shownPath(path)})`,
  );
  return ["Skills: read the file of one with read_file before you do a task that it is for.", ...lines].join(
    "\n",
  );
}
