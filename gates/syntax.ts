import { type ESTree, parseSync, Visitor } from "rolldown/utils";

/** One reach for another module, in any form the language has: types and `import()` count too. */
export interface ModuleUse {
  readonly line: number;
  /** null when it is computed at run time, so that nobody can judge it by reading. */
  readonly specifier: string | null;
  /** By `import()`, when it is first needed. */
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

/** The texts that stand in the code, those of templates piece by piece. */
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

/** The comments in the code, without their marks. */
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
  /** As the other module calls it; `*` for all of it, by whatever form. */
  readonly name: string;
}

/** What is taken of these modules, types aside. */
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
  /** As it is written: `DBOS.launch`, `this.#client.send`; `DBOS.*` for what may be any of them. */
  readonly target: string;
}

/** What sets, deletes or redefines a property of an object, in whatever form. */
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
  /** Where a template puts a value in, the title has `%s`. */
  readonly title: string;
}

const TEST_MAKERS = new Set(["describe", "suite", "it", "test", "bench"]);

/** The first argument of every `it`, `describe` and their variants (`it.each(...)("title")`). */
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
 * The titles of tests as they are told: with those of what they stand in, and once for each row of a table. Rows
 * count by their first text; of a table that has a name every text of the file may be one.
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

/** The first text of each row; null where the table is written elsewhere. */
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
  /** What stands directly above it. */
  readonly comment: string;
}

const CHANGES = "set|add|delete|clear|push|pop|shift|unshift|splice|answer";

/**
 * The values of a module that change while it is loaded: `let`, collections that begin empty or are changed, and
 * objects whose fields are set. A WeakMap or WeakSet is left out: it holds facts of its keys.
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
