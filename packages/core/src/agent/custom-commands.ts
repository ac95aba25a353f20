import { definitionFiles } from "./definition-files.ts";

/** A prompt that a person has written down, to be given by its name: `/name words`. */
export interface CustomCommand {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
}

export interface CustomCommands {
  readonly found: readonly CustomCommand[];
  readonly problems: readonly string[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** The commands in these folders; a later one of the same name wins. */
export async function customCommandsIn(folders: readonly string[]): Promise<CustomCommands> {
  const found = new Map<string, CustomCommand>();
  const problems: string[] = [];
  for (const folder of folders) {
    const { files, problems: unread } = await definitionFiles(folder);
    problems.push(...unread);
    for (const { name, path, fields, body } of files) {
      const description = typeof fields.description === "string" ? fields.description : "";
      if (!NAME.test(name))
        problems.push(`${path} cannot be a command: its name must be letters, digits, "_" or "-".`);
      else if (body === "") problems.push(`${path} cannot be a command: it holds no prompt.`);
      else found.set(name, { name, description, prompt: body });
    }
  }
  return { found: [...found.values()], problems };
}

/** The prompt that `/name words` stands for; null when it names none of them. */
export function expandedCommand(text: string, commands: readonly CustomCommand[]): string | null {
  const [, name = "", rest = ""] = /^\/([A-Za-z0-9_-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = commands.find((known) => known.name === name);
  if (command === undefined) return null;
  const words = wordsOf(rest);
  let isUsed = false;
  const prompt = command.prompt.replace(/\$(ARGUMENTS\b|[1-9](?!\d))/g, (_, mark: string) => {
    isUsed = true;
    return mark === "ARGUMENTS" ? rest : (words[Number(mark) - 1] ?? "");
  });
  return isUsed || rest === "" ? prompt : `${prompt}\n\n${rest}`;
}

/** Parted by blanks, except inside quotes. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
