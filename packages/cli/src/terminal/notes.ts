import type { ToolRegistry } from "@burin/core";
import {
  type DiscoveryFailure,
  findBareLauncher,
  findNearNames,
  findNearTools,
  parseRule,
  type Settings,
} from "@burin/core/internal";
import { formatNote, type Output } from "./output.ts";

/** Prints the notices from reading the settings to stderr. */
export function noteNotices(notices: readonly string[], output: Output): void {
  for (const notice of notices) output.note(formatNote(notice));
}

/** Prints to stderr which sources provide no tools, or only some of them. */
export function noteFailures(failures: readonly DiscoveryFailure[], output: Output): void {
  const notices = failures.map(({ source, message }) => `tools from ${source}: ${message}`);
  noteNotices(notices, output);
}

/** The places where users name tools: settings and the command line. */
interface NamedTools {
  readonly settings: Pick<Settings, "permissions" | "tools" | "hooks">;
  readonly options: Readonly<Record<"allow" | "deny", readonly string[]>>;
}

/** Returns notices about what is wrong with the rules and lists of tools. */
export async function listRuleNotices(named: NamedTools, registry: ToolRegistry): Promise<string[]> {
  return [...describeUnknownNames(named, registry), ...(await listBareLauncherNotices(named))];
}

/** Returns a notice for each rule that allows anything passed to a shell, an interpreter or another launcher. */
async function listBareLauncherNotices({
  settings: { permissions },
  options,
}: NamedTools): Promise<string[]> {
  const notices = permissions.allow.map(async (text) => {
    const program = await findBareLauncher(text);
    const place = options.allow.includes(text) ? "--allow" : "permissions.allow";
    return `${program === null ? "" : `${place} ${text}: this lets ${program} run whatever it is given; name a script or a package too`}`;
  });
  return (await Promise.all(notices)).filter((notice) => notice !== "");
}

/** Returns a notice for each name in rules and lists that no tool has. Tools that are added later are not known. */
function describeUnknownNames(
  { settings: { permissions, tools, hooks }, options }: NamedTools,
  registry: ToolRegistry,
): string[] {
  if (tools.toolDiscoveryCommand) return [];
  // These two tools exist only with a model, or if there are many tools.
  const names = registry.getAllTools().map(({ name }) => name);
  const known = [...names, ...registry.leftOut, "task", "tool_search"];
  const places = (["allow", "ask", "deny"] as const).flatMap((list) =>
    permissions[list].map((rule) => ({
      place: list !== "ask" && options[list].includes(rule) ? `--${list}` : `permissions.${list}`,
      name: parseRule(rule).tool,
    })),
  );
  const lists = (["include", "exclude"] as const).flatMap((list) =>
    tools[list].map((name) => ({ place: `tools.${list}`, name })),
  );
  const hooked = hooks.flatMap(({ tools: rules = [] }) =>
    [rules].flat().map((rule) => ({ place: "hooks.tools", name: parseRule(rule).tool })),
  );
  return [...places, ...lists, ...hooked].flatMap(({ place, name }) => {
    if (known.includes(name) || /[*?{[]|__/.test(name)) return [];
    const [near = findNearNames(name, known)[0]] = findNearTools(name, registry);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return [`${place} ${name}: there is no tool of that name here${hint}`];
  });
}
