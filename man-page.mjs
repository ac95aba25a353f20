// The manual page of the command line, from the same tables as its help.
/**
 * @typedef {typeof import("./packages/cli/src/request/usages.ts")} Words
 * @param {Words} words
 * @param {string} version
 */
export function manPage({ FORMS, ENVIRONMENT, listCompletedWords }, version) {
  const options = listCompletedWords().options.map(({ long, short, value, meaning }) => {
    const names = [...(short === undefined ? [] : [short]), long].map(bold).join(", ");
    return entry(value === undefined ? names : `${names} \\fI${plain(value)}\\fR`, meaning);
  });
  const paragraphs = ENVIRONMENT.trim().split(/\n(?=[A-Z][a-z]+ ?[a-z]*:)/);
  return [
    `.TH BURIN 1 "" "burin ${plain(version)}" "User Commands"`,
    ".SH NAME",
    "burin \\- a coding agent for the terminal",
    ".SH SYNOPSIS",
    ".B burin",
    "[options] [prompt]",
    ".br",
    ".B burin \\-p",
    "[options] prompt",
    ".br",
    ".B burin",
    "command [options]",
    ".SH DESCRIPTION",
    "At a terminal, burin opens an app in which a model reads, changes and tests code; what changes something asks first.",
    "With \\-p, or without a terminal, it runs one prompt and prints the answer. Text on standard input is added to it.",
    ".SH COMMANDS",
    ...FORMS.map(([form, meaning]) => entry(bold(`burin ${form}`), meaning)),
    ".SH OPTIONS",
    ...options,
    ...paragraphs.flatMap((paragraph) => {
      const [, title = "", text = ""] = /^([^:]+): ([\s\S]*)$/.exec(paragraph) ?? [];
      return [`.SH ${title.toUpperCase()}`, plain(text)];
    }),
    "",
  ].join("\n");
}

/**
 * @param {string} head
 * @param {string} text
 */
function entry(head, text) {
  return `.TP\n${head}\n${plain(text)}`;
}

/** @param {string} text */
function bold(text) {
  return `\\fB${plain(text)}\\fR`;
}

/**
 * Signs that would be commands of the typesetter, or would become typographic ones.
 * @param {string} text
 */
function plain(text) {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replace(/^\./gm, "\\&.");
}
