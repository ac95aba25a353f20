import { type ESTree, parseSync, Visitor } from "rolldown/utils";
import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";

/** Functions whose name is still a bare participle or ends in a preposition: `package name`, each line once. */
export const LEFT_FILE = "gates/plain-names.txt";

const PACKAGE_CODE = /^packages\/([^/]+)\/src\//;

/** Participles that do not end in "ed"; `read`, `set`, `cut`, `put` and `split` are verbs as well. */
const IRREGULAR = new Set(
  (
    "begun bound broken brought built chosen done drawn fallen found forgotten frozen given gone grown heard held " +
    "hidden kept known laid led left lent lost made meant met paid said seen sent shown spent spoken stood sworn " +
    "taken taught thought thrown told torn understood unsaid withheld won worn written"
  ).split(" "),
);
/** Words that end in "ed" and are no participles. */
const PLAIN_WORDS = new Set(["embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"]);
const PREPOSITION = /[a-z](?:Of|In|At|For|From|By|With|Within|Behind|Beside|Beyond|Around)$/;
/** A verb in front makes it a phrase that everybody knows: `waitFor`, `startsWith`, `isWithin`. */
const VERB_FIRST = /^(?:is|are|has|can|should|wait|look|starts|ends|sign|log|opt|checks?)[A-Z]/;

/** The function's name is a verb and its object. */
export function isPlainName(name: string): boolean {
  if (IRREGULAR.has(name) || (/^[a-z]+ed$/.test(name) && !PLAIN_WORDS.has(name))) return false;
  return !PREPOSITION.test(name) || VERB_FIRST.test(name);
}

/** What is named otherwise is in the list, and what is named well now leaves it: the list only shrinks. */
export function plainNames(files: Files): Verdict {
  const listed = new Set((files.get(LEFT_FILE) ?? "").split("\n").filter((line) => line !== ""));
  const found = new Set<string>();
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    const [, home] = PACKAGE_CODE.exec(path) ?? [];
    if (home === undefined || !isCode(path) || isTest(path)) continue;
    looked += 1;
    for (const { name, line } of functionsNamed(path, text)) {
      if (isPlainName(name)) continue;
      const entry = `${home} ${name}`;
      found.add(entry);
      if (!listed.has(entry))
        violations.push(`${path}:${line} names a function "${name}": use a verb and its object`);
    }
  }
  const gone = [...listed].filter((entry) => !found.has(entry));
  violations.push(...gone.map((entry) => `${LEFT_FILE}:1 lists "${entry}", which is gone: remove the line`));
  return { looked, violations };
}

/** All functions and methods that have a name, also those inside of others. */
function functionsNamed(path: string, text: string): { readonly name: string; readonly line: number }[] {
  const named: { name: string; line: number }[] = [];
  const add = (node: { readonly start: number; readonly name: string }): void => {
    named.push({ name: node.name, line: text.slice(0, node.start).split("\n").length });
  };
  const isFunction = (node: ESTree.Expression | null | undefined): boolean =>
    node?.type === "ArrowFunctionExpression" || node?.type === "FunctionExpression";
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} is not code: ${errors[0]?.message ?? ""}`);
  new Visitor({
    FunctionDeclaration: ({ id }) => {
      if (id !== null) add(id);
    },
    VariableDeclarator: ({ id, init }) => {
      if (id.type === "Identifier" && isFunction(init)) add(id);
    },
    MethodDefinition: ({ key }) => {
      if (key.type === "Identifier" || key.type === "PrivateIdentifier") add(key);
    },
  }).visit(program);
  return named;
}
