import { type ESTree, parseSync, Visitor } from "rolldown/utils";

/** One use of another module, in any form of the language, including types and `import()`. */
export interface ModuleUse {
  readonly line: number;
  /** null if it is computed at run time and so cannot be checked by reading. */
  readonly specifier: string | null;
  /** Whether it is loaded with `import()`, when it is first needed. */
  readonly isLate: boolean;
}

export function findModuleUses(path: string, text: string): ModuleUse[] {
  const uses: ModuleUse[] = [];
  const add = (start: number, specifier: string | null, isLate = false) =>
    uses.push({ line: findLine(text, start), specifier, isLate });
  new Visitor({
    ImportDeclaration: (node) => add(node.start, node.source.value),
    ExportAllDeclaration: (node) => add(node.start, node.source.value),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node.start, node.source.value);
    },
    ImportExpression: (node) => add(node.start, readFixedText(node.source), true),
    TSImportType: (node) => add(node.start, node.source.value),
    TSExternalModuleReference: (node) => add(node.start, node.expression.value),
    CallExpression: (node) => {
      const [first] = node.arguments;
      const isRequire = node.callee.type === "Identifier" && node.callee.name === "require";
      if (isRequire && first !== undefined) add(node.start, readFixedText(first));
    },
  }).visit(parseProgram(path, text));
  return uses.sort((a, b) => a.line - b.line);
}

/** Returns the string literals in the code. Templates are returned piece by piece. */
export function findWrittenTexts(
  path: string,
  text: string,
): { readonly line: number; readonly text: string }[] {
  const texts: { line: number; text: string }[] = [];
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === "string") texts.push({ line: findLine(text, node.start), text: node.value });
    },
    TemplateElement: (node) => texts.push({ line: findLine(text, node.start), text: node.value.raw }),
  }).visit(parseProgram(path, text));
  return texts;
}

/** Returns the comments in the code, without their marks. */
export function findWrittenComments(
  path: string,
  text: string,
): { readonly line: number; readonly text: string }[] {
  return parseSync(path, text).comments.map(({ start, value }) => ({
    line: findLine(text, start),
    text: value.replace(/\s*\n\s*\* ?/g, " "),
  }));
}

export interface ImportedName {
  readonly line: number;
  /** The name in the other module; `*` if everything is imported, in whatever form. */
  readonly name: string;
}

/** Returns the names that are imported from these modules, except for types. */
export function findImportedNames(path: string, text: string, modules: ReadonlySet<string>): ImportedName[] {
  const names: ImportedName[] = [];
  const add = (start: number, name: string) => names.push({ line: findLine(text, start), name });
  new Visitor({
    ImportDeclaration: (node) => {
      if (!modules.has(node.source.value) || node.importKind === "type") return;
      for (const specifier of node.specifiers) {
        if (specifier.type !== "ImportSpecifier") add(node.start, "*");
        else if (specifier.importKind !== "type")
          add(specifier.start, specifier.imported.type === "Identifier" ? specifier.imported.name : "*");
      }
    },
    ExportAllDeclaration: (node) => {
      if (modules.has(node.source.value)) add(node.start, "*");
    },
    ExportNamedDeclaration: (node) => {
      if (node.source !== null && modules.has(node.source.value)) add(node.start, "*");
    },
    ImportExpression: (node) => {
      if (modules.has(readFixedText(node.source) ?? "")) add(node.start, "*");
    },
    CallExpression: (node) => {
      const [first] = node.arguments;
      const callee = text.slice(node.callee.start, node.callee.end);
      const isReached = /(?:^|\.)(?:require|getBuiltinModule)$/.test(callee);
      if (isReached && first !== undefined && modules.has(readFixedText(first) ?? "")) add(node.start, "*");
    },
  }).visit(parseProgram(path, text));
  return names;
}

export interface PropertyChange {
  readonly line: number;
  /** The property as it is written: `DBOS.launch`, `this.#client.send`; `DBOS.*` if it may be any property. */
  readonly target: string;
}

/** Returns everything that sets, deletes or redefines a property of an object, in whatever form. */
export function findPropertyChanges(path: string, text: string): PropertyChange[] {
  const changes: PropertyChange[] = [];
  const add = ({ start, end }: { readonly start: number; readonly end: number }, more = "") =>
    changes.push({ line: findLine(text, start), target: text.slice(start, end) + more });
  new Visitor({
    AssignmentExpression: ({ left }) => {
      if (left.type === "MemberExpression") add(left);
    },
    UpdateExpression: ({ argument }) => {
      if (argument.type === "MemberExpression") add(argument);
    },
    UnaryExpression: ({ operator, argument }) => {
      if (operator === "delete") add(argument);
    },
    CallExpression: ({ callee, arguments: [first] }) => {
      const isChange = /^(?:Object|Reflect)\.(?:assign|defineProperty|defineProperties|set|setPrototypeOf)$/;
      if (first !== undefined && isChange.test(text.slice(callee.start, callee.end))) add(first, ".*");
    },
  }).visit(parseProgram(path, text));
  return changes;
}

export interface TestTitle {
  readonly line: number;
  /** The title, with `%s` in place of a template's values. */
  readonly title: string;
}

const TEST_MAKERS = new Set(["describe", "suite", "it", "test", "bench"]);

/** Returns the first argument of each `it`, `describe` and their variants (`it.each(...)("title")`). */
export function findTestTitles(path: string, text: string): TestTitle[] {
  const titles: TestTitle[] = [];
  new Visitor({
    CallExpression: (node) => {
      const [first] = node.arguments;
      if (first === undefined || !TEST_MAKERS.has(findRootName(node.callee))) return;
      const title = readTemplateText(first);
      if (title !== null) titles.push({ line: findLine(text, node.start), title });
    },
  }).visit(parseProgram(path, text));
  return titles;
}

/**
 * Returns test titles as they are reported: with the titles of the blocks around them, and once for each row of a
 * table. A row counts by its first text; for a table that has a name, every text in the file may be one.
 */
export function findWholeTitles(path: string, text: string): string[] {
  const found: string[] = [];
  const inside: string[][] = [];
  const titlesIn = ({ callee, arguments: [first] }: ESTree.CallExpression): string[] | null => {
    const own =
      first === undefined || !TEST_MAKERS.has(findRootName(callee)) ? null : readTemplateText(first);
    if (own === null) return null;
    const rows = callee.type === "CallExpression" ? readRows(callee.arguments[0]) : [];
    const all = rows ?? findWrittenTexts(path, text).map((written) => written.text);
    const filled = /%[sj]|\$title/.test(own)
      ? all.map((row) => own.replace(/%[sj]|\$title/, () => row))
      : [own];
    return (inside.at(-1) ?? [""]).flatMap((before) => filled.map((title) => `${before} ${title}`.trim()));
  };
  new Visitor({
    CallExpression: (node) => {
      const titles = titlesIn(node);
      if (titles === null) return;
      if (/^(?:describe|suite)$/.test(findRootName(node.callee))) inside.push(titles);
      else found.push(...titles);
    },
    "CallExpression:exit": (node) => {
      if (titlesIn(node) !== null && /^(?:describe|suite)$/.test(findRootName(node.callee))) inside.pop();
    },
  }).visit(parseProgram(path, text));
  return found;
}

/** Returns the first text of each row; null if the table is defined elsewhere. */
function readRows(table: ESTree.Node | undefined): string[] | null {
  if (table?.type === "TSAsExpression") return readRows(table.expression);
  if (table?.type !== "ArrayExpression") return null;
  return table.elements.flatMap((row) => {
    const first = row?.type === "ArrayExpression" ? row.elements[0] : row;
    return first ? (readTemplateText(first) ?? []) : [];
  });
}

function parseProgram(path: string, text: string): ESTree.Program {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}\n${error.codeframe}`);
  return program;
}

function findRootName(callee: ESTree.Node): string {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "MemberExpression") return findRootName(callee.object);
  if (callee.type === "CallExpression") return findRootName(callee.callee);
  return callee.type === "TaggedTemplateExpression" ? findRootName(callee.tag) : "";
}

function readFixedText(node: ESTree.Node): string | null {
  return node.type === "TemplateLiteral" && node.expressions.length > 0 ? null : readTemplateText(node);
}

function readTemplateText(node: ESTree.Node): string | null {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : null;
  if (node.type !== "TemplateLiteral") return null;
  return node.quasis.map((quasi) => quasi.value.cooked ?? quasi.value.raw).join("%s");
}

function findLine(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

export interface ModuleValue {
  readonly name: string;
  readonly line: number;
  /** The comment directly above it. */
  readonly comment: string;
}

const CHANGES = "set|add|delete|clear|push|pop|shift|unshift|splice|answer";

/**
 * Returns a module's mutable values: `let`, collections that start empty or are changed, and objects whose fields are
 * set. A WeakMap or WeakSet is left out, because it only stores facts about its keys.
 */
export function findModuleValues(path: string, text: string): ModuleValue[] {
  const { program, comments } = parseSync(path, text);
  const found: ModuleValue[] = [];
  for (const statement of program.body) {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type !== "VariableDeclaration" || declared.declare === true) continue;
    const above = comments.filter(({ end }) => /^\s*$/.test(text.slice(end, statement.start)));
    for (const { id, init } of declared.declarations) {
      const name = text.slice(id.start, id.type === "Identifier" ? id.start + id.name.length : id.end);
      const begun = init === null ? "" : text.slice(init.start, init.end);
      const isReadOnly = /\b[Rr]eadonly/.test(text.slice(id.start, id.end));
      const isHeld = declared.kind === "const" && (isReadOnly || !isChanged(text, name, begun));
      if (isHeld || /^new Weak(?:Map|Set)\b/.test(begun)) continue;
      const comment = above.map(({ value }) => value.replace(/\s*\n\s*\* ?/g, " ")).join(" ");
      found.push({ name, line: findLine(text, statement.start), comment });
    }
  }
  return found;
}

function isChanged(text: string, name: string, begun: string): boolean {
  const isEmpty = /^new [A-Z]\w*(?:<.*>)?\(\)$/s.test(begun);
  const escaped = name.replace(/\W/g, "\\$&");
  const change = new RegExp(
    `(?<![.\\w#])${escaped}(?:\\.(?:${CHANGES})\\(|(?:\\.(?!lastIndex)\\w+|\\[[^\\]]+\\])\\s*(?:[-+|&?]{0,2}=)(?!=))`,
  );
  return isEmpty || change.test(text);
}
