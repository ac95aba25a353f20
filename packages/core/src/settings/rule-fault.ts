import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { patternFault } from "@burin/contract/patterns/pattern";
import { type Settings, SettingsError } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { parseRule } from "@burin/shell-judge";

/** What a schema cannot say: throws SettingsError for the first rule or glob that is not valid, with its place. */
export function assertRules(layer: object, file?: string): void {
  const {
    permissions = {},
    tools = {},
    hooks = [],
  } = layer as { [Key in keyof Settings]?: Partial<Settings[Key]> };
  const check = (place: string, texts: readonly string[] = [], parse: (text: string) => unknown) => {
    try {
      texts.forEach(parse);
    } catch (error) {
      throw new SettingsError(`${file === undefined ? "" : `${file}: `}${place}: ${messageOf(error)}`);
    }
  };
  for (const list of ["allow", "ask", "deny"] as const)
    check(`permissions.${list}`, permissions[list], parseRule);
  for (const hook of hooks) check("hooks.tools", [hook?.tools ?? []].flat(), parseRule);
  for (const list of ["include", "exclude"] as const) check(`tools.${list}`, tools[list], parseGlob);
}

function parseGlob(text: string): void {
  const fault = patternFault(() => globMatcher(text, { caseSensitive: true }));
  if (fault !== null) throw new Error(`"${text}" is not a name or glob of tools: ${fault}`);
}
