// Writes a page for each entry point of the library: every name with its comment, its example and its declaration.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const CORE = "packages/core/src";
/** The entry points, and what each contains. */
const DOORS = {
  index: "The toolbox, its tools and their questions; `createSession`.",
  adapters: "Adapters between your own loop and an SDK.",
  sessions: "Recorded sessions, models, budgets, events, undo.",
  machine: "Where files are, and where commands run.",
  testing: "A strict fake service, and a scripted model.",
};
/** Names of an earlier version, which `docs/library.md` lists with the new ones. */
const OLD_NAMES = "old-names.ts";
const KINDS = ["Functions", "Classes", "Values", "Types"];

/** @type {ts.ParseConfigFileHost} */
const HOST = {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic({ messageText }) {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
  },
};

/**
 * @typedef {{ name: string, meant: string, kind: string, text: string, comment: string, examples: string[] }} Entry
 * `meant` is the name of the declaration
 */

/** The pages by their names, for the menu. @returns {Record<string, string>} */
export function apiTitles() {
  return Object.fromEntries(Object.keys(DOORS).map((door) => [pageName(door), specifier(door)]));
}

/** @param {string} repository @param {string} folder for the pages @returns {number} how many names they describe */
export function writeApiPages(repository, folder) {
  const parsed = ts.getParsedCommandLineOfConfigFile(join(repository, "tsconfig.types.json"), {}, HOST);
  if (!parsed) throw new Error("tsconfig.types.json cannot be read");
  const files = Object.keys(DOORS).map((door) => join(repository, CORE, `${door}.ts`));
  const program = ts.createProgram(parsed.fileNames, parsed.options);
  mkdirSync(folder, { recursive: true });
  const pages = Object.entries(DOORS).map(([door, about], at) => ({
    door,
    about,
    entries: entriesOf(program, files[at] ?? ""),
  }));
  /** @type {Map<string, string>} */
  const places = new Map();
  for (const { door, entries } of pages)
    for (const { name } of entries)
      if (!places.has(name)) places.set(name, `${pageName(door)}#${anchor(name)}`);
  for (const page of pages) writeFileSync(join(folder, `${pageName(page.door)}.md`), pageOf(page, places));
  return pages.reduce((sum, { entries }) => sum + entries.length, 0);
}

/** @param {ts.Program} program @param {string} file @returns {Entry[]} */
function entriesOf(program, file) {
  const checker = program.getTypeChecker();
  const module = program.getSourceFile(file);
  const symbol = module && checker.getSymbolAtLocation(module);
  if (!symbol) throw new Error(`${file} exports nothing`);
  return checker.getExportsOfModule(symbol).flatMap((one) => {
    const meant = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
    const from = one.declarations?.[0]?.getSourceFile().fileName ?? "";
    const declaration = meant.declarations?.[0];
    if (!declaration || from.endsWith(OLD_NAMES)) return [];
    const declared = declarationText(program, declaration.getSourceFile(), meant.name);
    const comment = ts.displayPartsToString(meant.getDocumentationComment(checker));
    const tags = meant.getJsDocTags(checker).filter(({ name }) => name === "example");
    const examples = tags.map(({ text }) => ts.displayPartsToString(text));
    return [
      { name: one.name, meant: meant.name, kind: kindOf(meant), text: readable(declared), comment, examples },
    ];
  });
}

/** @param {ts.Symbol} symbol */
function kindOf({ flags }) {
  if (flags & ts.SymbolFlags.Function) return "Functions";
  if (flags & ts.SymbolFlags.Class) return "Classes";
  return flags & ts.SymbolFlags.Variable ? "Values" : "Types";
}

/**
 * What a program sees of a name: its declaration without bodies and private members.
 * @param {ts.Program} program @param {ts.SourceFile} source @param {string} name
 */
function declarationText(program, source, name) {
  let text = "";
  program.emit(source, (_, written) => (text = written), undefined, true);
  const file = ts.createSourceFile("a.d.ts", text, ts.ScriptTarget.ES2022, true);
  const found = file.statements.filter((statement) => namesOf(statement).includes(name));
  if (found.length === 0) throw new Error(`${name} is not declared in ${relative(".", source.fileName)}`);
  return found.map((statement) => statement.getText(file).replace(/^export (?:declare )?/, "")).join("\n");
}

/**
 * The compiler indents by four, and writes long texts and lists of texts in one line.
 * @param {string} declaration
 */
function readable(declaration) {
  return declaration
    .replace(/^ *(?:#private;|private .*)\n/gm, "")
    .replaceAll(/import\("[^"]+"\)\./g, "")
    .replaceAll(/ = "[^"\n]{50,}";/g, ": string;")
    .replaceAll(/^ +/gm, (spaces) => " ".repeat(Math.ceil(spaces.length / 2)))
    .replaceAll(/^type [^\n]{100,}$/gm, (line) => line.replace(" = ", " = | ").replaceAll(" | ", "\n  | "));
}

/** @param {ts.Statement} statement @returns {string[]} */
function namesOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = /** @type {{ name?: ts.Node }} */ (/** @type {unknown} */ (statement));
  return name ? [name.getText()] : [];
}

/** @param {{ door: string, about: string, entries: Entry[] }} page @param {Map<string, string>} places */
function pageOf({ door, about, entries }, places) {
  const groups = KINDS.flatMap((kind) => {
    const own = entries.filter((entry) => entry.kind === kind).sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = new Set(own.map(({ name }) => name));
    const texts = own.map((entry) =>
      entry.name !== entry.meant && names.has(entry.meant)
        ? `### ${entry.name}\n\nAnother name of [${entry.meant}](#${anchor(entry.meant)}).`
        : entryText(entry, places),
    );
    return own.length === 0 ? [] : [`## ${kind}`, ...texts];
  });
  return [`---\noutline: [2, 3]\n---\n\n# ${specifier(door)}`, about, ...groups, ""].join("\n\n");
}

/** @param {Entry} entry @param {Map<string, string>} places */
function entryText({ name, meant, text, comment, examples }, places) {
  const words = new Set(text.match(/[A-Za-z_]\w+/g) ?? []);
  const others = [...places].filter(([other]) => other !== name && other !== meant && words.has(other));
  const links = others.map(([other, place]) => `[${other}](./${place})`);
  return [
    `### ${name}`,
    prose(comment),
    ...examples.map((example) => code(example.replace(/^```\w*\n|\n```$/g, ""))),
    code(text),
    ...(links.length > 0 ? [`Uses ${links.join(", ")}.`] : []),
  ].join("\n\n");
}

/** @param {string} text */
const code = (text) => `\`\`\`\`ts\n${text}\n\`\`\`\``;

/** A page is a template, too: only in code are its signs left alone. @param {string} comment */
function prose(comment) {
  return comment
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;").replaceAll("{{", "&#123;{")))
    .join("");
}

/** @param {string} door */
const specifier = (door) => (door === "index" ? "@burin/core" : `@burin/core/${door}`);

/** @param {string} door */
const pageName = (door) => (door === "index" ? "core" : door);

/** As `slugify` of config.mjs makes it. @param {string} name */
const anchor = (name) => name.toLowerCase();
