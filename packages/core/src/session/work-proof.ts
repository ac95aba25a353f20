import type { AgentEvent, WorkProof } from "@burin/contract/agent-event";
import { joinText, type PartListUnion } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { TreeSnapshot } from "@burin/files/tree";
import type { ResolveKind } from "./unsettled-calls.ts";

/** Matches what may precede the name of a program in a command. */
const BEFORE =
  /^(?:[A-Za-z_]\w*=\S*\s+|(?:npx|pnpx|bunx|time|uv run|poetry run|bundle exec|timeout \S+|(?:npm|pnpm|yarn) exec)\s+(?:-\S+\s+)*)+/;
/** Programs that show whether the work is correct. */
const CHECKING = new RegExp(
  [
    "(?:npm|pnpm|yarn|bun)\\s+(?:run\\s+)?(?:t$|\\S*(?:test|check|lint|build|type|tsc|verify))",
    "node\\s+(?:-\\S+\\s+)*--test",
    "(?:\\S*/)?(?:vitest|jest|mocha|ava|pytest|tox|rspec|phpunit|ctest|tsc|eslint|biome|ruff|mypy|make|rake|gradlew?|mvnw?)\\b",
    "(?:cargo|go|dotnet|deno|swift|mix|zig)\\s+(?:test|check|build|clippy|vet|nextest)\\b",
    "python[\\d.]*\\s+-m\\s+(?:pytest|unittest|mypy|tox)\\b",
  ]
    .map((form) => `^${form}`)
    .join("|"),
);

/** Finds such a program in a command line; null if none. `isOwnCode`: the line's exit code is the program's. */
function findCheckingCommand(line: string): { readonly isOwnCode: boolean } | null {
  const pieces = line
    .replaceAll("\n", ";")
    .split(/(\|\||&&|[|;])/)
    .map((piece) => piece.trim());
  const last = pieces.findLastIndex((piece) => CHECKING.test(piece.replace(BEFORE, "")));
  if (last === -1) return null;
  return { isOwnCode: pieces.slice(last + 1).every((piece) => !/^(?:\|\|?|;)$/.test(piece)) };
}

/** Returns the exit code in an answer of run_shell_command; null if the command did not exit by itself. */
export function readExitCode(content: PartListUnion): number | null {
  const code = /^Exit code: (\d+)/.exec(joinText(content))?.[1];
  return code === undefined ? null : Number(code);
}

/** Lists the files of the project. Resolves to null if that is not possible. */
type ReadTree = () => Promise<TreeSnapshot | null>;

interface ProofOptions {
  readonly kindOf: ResolveKind;
  readonly look: ReadTree;
}

interface Check {
  readonly exitCode: number | null;
  /** The files at the end of the command. */
  readonly look: Promise<TreeSnapshot | null>;
  /** How many commands had been run by then. */
  readonly commands: number;
}

/** Collects which files a run changed, and which checking commands still apply to the files at its end. */
export class ProofOfWork {
  readonly #needs: ProofOptions;
  readonly #changed = new Set<string>();
  readonly #after = new Map<string, Check>();
  readonly #before = new Set<string>();
  /** The files before the first command; null until a command starts. */
  #start: Promise<TreeSnapshot | null> | null = null;
  #commands = 0;

  constructor(needs: ProofOptions) {
    this.#needs = needs;
  }

  noteEvent(event: AgentEvent): void {
    if (event.type === "subagent_call") this.#noteStart(event.call);
    if (event.type !== "tool_call") return;
    const { call } = event;
    this.#noteStart(call);
    if (!isAnswered(call)) return;
    const { name, args, status } = call;
    if (name === "run_shell_command") this.#noteCommand(call);
    else if (status === "success" && this.#needs.kindOf(name) === "edit") {
      this.#changed.add(String(args.file_path ?? args.path ?? name));
      for (const command of this.#after.keys()) this.#markAsBeforeWork(command);
    }
  }

  /** Lists the files when the first command is announced, before it can change anything. */
  #noteStart({ name, status }: Pick<ToolCall, "name" | "status">): void {
    const kind = this.#needs.kindOf(name);
    if (kind !== "execute" && kind !== "delegate") return;
    this.#start ??= this.#readSnapshot();
    if (status !== "validating" && status !== "awaiting_approval") this.#commands += 1;
  }

  #readSnapshot(): Promise<TreeSnapshot | null> {
    return this.#needs.look().catch(() => null);
  }

  /** Compares the files at the end of the run. Returns null if nothing was changed, so that nothing needs proof. */
  async compareAtEnd(): Promise<WorkProof | null> {
    if (this.#start !== null) await this.#compare(await this.#start);
    if (this.#changed.size === 0) return null;
    const checked = [...this.#after].map(([command, { exitCode }]) => ({ command, exitCode }));
    return { changed: [...this.#changed], checked, notSince: [...this.#before] };
  }

  async #compare(start: TreeSnapshot | null): Promise<void> {
    const end = await this.#readSnapshot();
    if (start === null || end === null) return;
    const { findChangedPaths } = await import("@burin/files/tree");
    for (const path of findChangedPaths(start, end) ?? []) this.#changed.add(path);
    for (const [command, { look, commands }] of this.#after) {
      const then = await look;
      const changed = then === null ? null : findChangedPaths(then, end);
      // If not all files could be listed, assume that a later command changed something.
      const isOld = changed === null ? commands < this.#commands : changed.length > 0;
      if (isOld) this.#markAsBeforeWork(command);
    }
  }

  #markAsBeforeWork(command: string): void {
    this.#after.delete(command);
    this.#before.add(command);
  }

  #noteCommand({ args, status, llmContent }: AnsweredCall): void {
    const command = String(args.command ?? "").trim();
    const checking = findCheckingCommand(command);
    if (checking === null || args.is_background === true || status === "cancelled") return;
    this.#before.delete(command);
    const exitCode = checking.isOwnCode && status === "success" ? readExitCode(llmContent) : null;
    this.#after.set(command, { exitCode, look: this.#readSnapshot(), commands: this.#commands });
    const [oldest] = this.#after.keys();
    if (oldest !== undefined && this.#after.size > MAX_CURRENT) this.#markAsBeforeWork(oldest);
  }
}

/** The maximum number of checks that are tracked, because each keeps a list of all files. */
const MAX_CURRENT = 20;
