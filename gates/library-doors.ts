import { posix } from "node:path";
import { type ESTree, parseSync } from "rolldown/utils";
import type { Files } from "./repository-files.ts";

/** The library's entry points that others may use: `@burin/core`, `@burin/core/adapters`, and so on. */
const DOORS = ["index", "adapters", "machine", "sessions", "testing"];
/** What the main entry point keeps from an earlier version. */
const OLD_NAMES = "packages/core/src/old-names.ts";

/** A name that others can import, and where it is declared. */
export interface PublicName {
  /** The specifier with which others import it, such as `@burin/core/machine`. */
  readonly door: string;
  readonly name: string;
  readonly isType: boolean;
  readonly isDeprecated: boolean;
  readonly declaration: Declaration | null;
}

export interface Declaration {
  readonly path: string;
  readonly node: ESTree.Node;
  /** The comment's text without its marks; "" if there is no comment. */
  readonly comment: string;
}

/** The members of an interface or a literal type, each with its comment. */
export function membersOf(files: Files, { path, node }: Declaration): { name: string; comment: string }[] {
  const { text, comments } = parsed(files, path);
  const type = node.type === "TSTypeAliasDeclaration" ? node.typeAnnotation : node;
  const members =
    type.type === "TSInterfaceDeclaration"
      ? type.body.body
      : type.type === "TSTypeLiteral"
        ? type.members
        : [];
  return members.flatMap((member) => {
    if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return [];
    const name = text.slice(member.key.start, member.key.end);
    return [{ name, comment: commentBefore(text, comments, member.start) }];
  });
}

interface Export {
  readonly name: string;
  readonly isType: boolean;
  /** The file that declares the name, and the name it has in that file. */
  readonly path: string;
  readonly local: string;
  readonly isDeprecated: boolean;
}

export function publicNamesOf(files: Files): PublicName[] {
  return DOORS.flatMap((door) =>
    exportsOf(files, `packages/core/src/${door}.ts`).map(({ name, isType, isDeprecated, path, local }) => ({
      door: door === "index" ? "@burin/core" : `@burin/core/${door}`,
      name,
      isType,
      isDeprecated,
      declaration: findDeclaration(files, path, local),
    })),
  );
}

/** Returns everything that a file exports, including what it re-exports. */
function exportsOf(files: Files, path: string): Export[] {
  const { program } = parsed(files, path);
  return program.body.flatMap((node): Export[] => {
    if (node.type === "ExportAllDeclaration")
      return exportsOf(files, sourceOf(files, path, node.source.value));
    if (node.type !== "ExportNamedDeclaration") return [];
    const isDeprecated = path === OLD_NAMES;
    const from = node.source === null ? path : sourceOf(files, path, node.source.value);
    const listed = node.specifiers.map((one) => ({
      name: nameOf(one.exported),
      local: nameOf(one.local),
      isType: node.exportKind === "type" || one.exportKind === "type",
      path: from,
      isDeprecated,
    }));
    const isType = /^TS/.test(node.declaration?.type ?? "");
    const declared = namesDeclared(node.declaration).map((name) => ({
      name,
      local: name,
      isType,
      path,
      isDeprecated,
    }));
    return [...listed, ...declared];
  });
}

/** Follows a name through the files that re-export it. */
function findDeclaration(files: Files, path: string, name: string): Declaration | null {
  const { program, text, comments } = parsed(files, path);
  for (const node of program.body) {
    const declared = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    if (namesDeclared(declared).includes(name))
      return { path, node: declared ?? node, comment: commentBefore(text, comments, node.start) };
    const there = nameThere(node, name);
    if (there !== null) return findDeclaration(files, sourceOf(files, path, there.source), there.name);
  }
  return null;
}

/** Returns the module from which a statement takes a name of this file, and the name there. */
function nameThere(node: ESTree.Node, name: string): { source: string; name: string } | null {
  if (node.type === "ImportDeclaration") {
    const found = node.specifiers.find((one) => one.local.name === name);
    return found?.type === "ImportSpecifier"
      ? { source: node.source.value, name: nameOf(found.imported) }
      : null;
  }
  if (node.type !== "ExportNamedDeclaration" || node.source === null) return null;
  const found = node.specifiers.find(({ exported }) => nameOf(exported) === name);
  return found === undefined ? null : { source: node.source.value, name: nameOf(found.local) };
}

/** Returns the file that an import specifier refers to. */
function sourceOf(files: Files, path: string, specifier: string): string {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(path), specifier);
  const [, name = "", below] = /^@burin\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  const { exports = {} } = JSON.parse(files.get(`packages/${name}/package.json`) ?? "{}");
  const row = exports[below === undefined ? "." : `./${below}`] ?? exports["./*"]?.replace("*", below);
  return posix.join("packages", name, typeof row === "string" ? row : row["@burin/source"]);
}

const PARSED = new WeakMap<Files, Map<string, ReturnType<typeof parse>>>();

function parsed(files: Files, path: string): ReturnType<typeof parse> {
  const known = PARSED.get(files) ?? new Map();
  PARSED.set(files, known);
  const found = known.get(path) ?? parse(path, files.get(path) ?? "");
  known.set(path, found);
  return found;
}

function parse(path: string, text: string) {
  const { program, comments } = parseSync(path, text);
  return { program, comments, text };
}

/** Returns the documentation comment that ends where the node starts. Joins its lines and leaves out examples. */
function commentBefore(
  text: string,
  comments: readonly { readonly value: string; readonly end: number }[],
  start: number,
): string {
  const found = comments.findLast(({ end }) => end <= start && text.slice(end, start).trim() === "");
  if (found === undefined || !found.value.startsWith("*")) return "";
  return found.value
    .replace(/^\*/, "")
    .replace(/\s*@example[\s\S]*$/, "")
    .replaceAll(/\s*\n\s*\* ?/g, " ")
    .trim();
}

function nameOf(node: ESTree.ModuleExportName): string {
  return node.type === "Literal" ? node.value : node.name;
}

function namesDeclared(node: ESTree.Node | null): string[] {
  if (node === null) return [];
  if (node.type === "VariableDeclaration")
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  const { id } = node as { readonly id?: { readonly name?: string } | null };
  return typeof id?.name === "string" ? [id.name] : [];
}
