import { type DefinitionFile, definitionFolders } from "./definition-files.ts";

/** What a person has written down on how to do one kind of task, in a folder with a SKILL.md. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

export interface Skills {
  readonly found: readonly Skill[];
  readonly problems: readonly string[];
}

const FILE_NAME = "SKILL.md";
const MOST_DESCRIPTION = 500;

/** The skills in these folders; a later one of the same name wins. */
export async function skillsIn(folders: readonly string[]): Promise<Skills> {
  const found = new Map<string, Skill>();
  const problems: string[] = [];
  for (const folder of folders) {
    const { files, problems: unread } = await definitionFolders(folder, FILE_NAME);
    problems.push(...unread);
    for (const file of files) {
      const skill = skillOf(file);
      if (skill === null)
        problems.push(`${file.path} has no \`description\`, by which the model would choose it.`);
      else found.set(skill.name, skill);
    }
  }
  return { found: [...found.values()], problems };
}

function skillOf({ name, path, fields }: DefinitionFile): Skill | null {
  const { description, name: named } = fields;
  if (typeof description !== "string" || description.trim() === "") return null;
  const line = description.replace(/\s+/g, " ").trim().slice(0, MOST_DESCRIPTION);
  return {
    name: typeof named === "string" && named.trim() !== "" ? named.trim() : name,
    description: line,
    path,
  };
}

/** What the model is told of them; it reads the file of one when a task needs it. */
export function skillsText(skills: readonly Skill[]): string {
  const lines = skills.map(({ name, description, path }) => `- ${name}: ${description} (${path})`);
  return ["Skills: read the file of one with read_file before you do a task that it is for.", ...lines].join(
    "\n",
  );
}
