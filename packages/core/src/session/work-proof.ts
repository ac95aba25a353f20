import type { AgentEvent, WorkProof } from "@burin/contract/agent-event";
import { type PartListUnion, textOf } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered } from "@burin/contract/tool-call";
import type { KindOf } from "./unsettled-calls.ts";

/** What may precede the program itself. */
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

/** Whether the exit code of a command line is that of such a program; null when it runs none. */
function checkingIn(line: string): { readonly isOwnCode: boolean } | null {
  const pieces = line
    .replaceAll("\n", ";")
    .split(/(\|\||&&|[|;])/)
    .map((piece) => piece.trim());
  const last = pieces.findLastIndex((piece) => CHECKING.test(piece.replace(BEFORE, "")));
  if (last === -1) return null;
  return { isOwnCode: pieces.slice(last + 1).every((piece) => !/^(?:\|\|?|;)$/.test(piece)) };
}

/** The exit code in an answer of run_shell_command; null when the command did not exit by itself. */
export function exitCodeIn(content: PartListUnion): number | null {
  const code = /^Exit code: (\d+)/.exec(textOf(content))?.[1];
  return code === undefined ? null : Number(code);
}

/** Collects what a run changed, and which checking commands ran after the last change, or only before. */
export class ProofOfWork {
  readonly #kindOf: KindOf;
  readonly #changed = new Set<string>();
  #after = new Map<string, number | null>();
  readonly #before = new Set<string>();

  constructor(kindOf: KindOf) {
    this.#kindOf = kindOf;
  }

  note(event: AgentEvent): void {
    if (event.type !== "tool_call" || !isAnswered(event.call)) return;
    const { name, args, status } = event.call;
    if (name === "run_shell_command") this.#noteCommand(event.call);
    else if (status === "success" && this.#kindOf(name) === "edit") {
      this.#changed.add(String(args.file_path ?? args.path ?? name));
      for (const command of this.#after.keys()) this.#before.add(command);
      this.#after = new Map();
    }
  }

  /** null when nothing was changed and so nothing needs proof. */
  get told(): WorkProof | null {
    if (this.#changed.size === 0) return null;
    const checked = [...this.#after].map(([command, exitCode]) => ({ command, exitCode }));
    return { changed: [...this.#changed], checked, notSince: [...this.#before] };
  }

  #noteCommand({ args, status, llmContent }: AnsweredCall): void {
    const command = String(args.command ?? "").trim();
    const checking = checkingIn(command);
    if (checking === null || args.is_background === true || status === "cancelled") return;
    this.#before.delete(command);
    this.#after.set(command, checking.isOwnCode && status === "success" ? exitCodeIn(llmContent) : null);
  }
}
