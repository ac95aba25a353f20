/** Describes where a text stops being JSON: line, column and what is there. null when it is JSON. */
export async function jsonFault(text: string): Promise<string | null> {
  const { printParseErrorCode, visit } = await import("jsonc-parser");
  let found: { readonly offset: number; readonly what: string } | null = null;
  try {
    visit(
      text,
      {
        onError: (code, offset) => {
          found = { offset, what: errorWords(printParseErrorCode(code)) };
          // One fault is enough; a long invalid text has millions.
          throw new Error("found");
        },
      },
      { disallowComments: true },
    );
  } catch {
    // With no fault found, it was the stack that overflowed.
    return found === null ? "it is nested too deeply" : described(text, found);
  }
  return null;
}

function described(
  text: string,
  { offset, what }: { readonly offset: number; readonly what: string },
): string {
  const place = placeOf(text, offset).replace(":", ", column ");
  const there = text.slice(offset, offset + 40).split("\n")[0] ?? "";
  return `line ${place}: ${what}${there === "" ? " at the end" : `, at ${JSON.stringify(there)}`}`;
}

export function errorWords(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

/** Line and column, both counted from 1. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}
