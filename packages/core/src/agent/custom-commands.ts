import { type Defined, type DefinitionFile, definedIn, definitionFiles } from "./definition-files.ts";

/** A prompt that a person has written down, to be given by its name: `/name words`. */
export interface CustomCommand {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** The commands in these folders. */
export function customCommandsIn(folders: readonly string[]): Promise<Defined<CustomCommand>> {
  return definedIn(folders, definitionFiles, commandOf);
}

function commandOf({ name, fields, body }: DefinitionFile): CustomCommand {
  if (!NAME.test(name)) throw new Error('cannot be a command: its name must be letters, digits, "_" or "-"');
  if (body === "") throw new Error("cannot be a command: it holds no prompt");
  const description = typeof fields.description === "string" ? fields.description : "";
  return { name, description, prompt: body };
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
