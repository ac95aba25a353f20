/** Describes where a text stops being valid JSON: line, column, and the text there. Returns null if it is valid. */
export async function findJsonFault(text: string): Promise<string | null> {
  const { printParseErrorCode, visit } = await import("jsonc-parser");
  let found: { readonly offset: number; readonly what: string } | null = null;
  try {
    visit(
      text,
      {
        onError: (code, offset) => {
          found = { offset, what: formatErrorName(printParseErrorCode(code)) };
          // Stop at the first fault: a long invalid text has millions.
          throw new Error("found");
        },
      },
      { disallowComments: true },
    );
  } catch {
    // If no fault was found, the stack overflowed.
    return found === null ? "it is nested too deeply" : describeFault(text, found);
  }
  return null;
}

function describeFault(
  text: string,
  { offset, what }: { readonly offset: number; readonly what: string },
): string {
  const place = formatPosition(text, offset).replace(":", ", column ");
  const there = text.slice(offset, offset + 40).split("\n")[0] ?? "";
  return `line ${place}: ${what}${there === "" ? " at the end" : `, at ${JSON.stringify(there)}`}`;
}

export function formatErrorName(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

/** Formats line and column of a position, both counted from 1. */
export function formatPosition(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}
