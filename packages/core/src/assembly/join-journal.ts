import { nodeMachine } from "@burin/commands/node-machine";
import { once } from "@burin/contract/async/once";
import { HARMLESS } from "@burin/contract/tools";
import type { TreeLook } from "@burin/files/tree";
import type { CallJournal } from "../scheduler/call-journal.ts";
import { BUILT_IN, type ToolRegistry } from "../tools/tool-registry.ts";
import type { Containment, ContainmentNeeds } from "./containment.ts";
import type { Home } from "./home.ts";

interface JournalGround {
  readonly home: Home;
  readonly roots: readonly string[];
  readonly registry: ToolRegistry;
  /** Who makes the changes; undefined where nothing is stored for undo. */
  readonly writer: string | undefined;
  readonly report: (message: string) => void;
  readonly signal: AbortSignal;
}

export interface JoinedJournal {
  readonly ofCalls: CallJournal;
  /** Of a command that no call runs: a hook, or the check at the end of a run. */
  readonly ofCommand: <T>(maker: "hook" | "check", command: string, work: () => Promise<T>) => Promise<T>;
  /** The files that are not ignored; null on another machine, whose files cannot be looked at in this way. */
  readonly look: () => Promise<TreeLook | null>;
  /** What holds for a command that runs unasked; or why none may. */
  readonly findContainment: (sandbox: ContainmentNeeds["sandbox"]) => Promise<Containment | string>;
}

/** The journal of what calls change by other ways than the file tools, which note their changes themselves. */
export function joinJournal({ home, roots, registry, writer, report, signal }: JournalGround): JoinedJournal {
  const { settings, environment, folder, root, machine } = home;
  const request = { roots, settings: { ...settings.files, environment }, except: folder };
  const isHere = machine === nodeMachine;
  const open = once(async () => {
    if (!isHere || writer === undefined) return null;
    const { TreeJournal } = await import("../session/undo/tree-journal.ts");
    return new TreeJournal({ home: folder, root, writer, request, environment, report, signal });
  });
  return {
    ofCalls: async ({ id, args, tool, reads, description }, work) => {
      if (HARMLESS.has(tool.kind) || reads === "wholly") return work();
      const isOwn = registry.sourceOf(tool.name) === BUILT_IN;
      if (isOwn && (tool.kind === "edit" || args.command === undefined)) return work();
      const journal = await open();
      return journal ? journal.around({ maker: tool.name, what: description, callId: id }, work) : work();
    },
    ofCommand: async (maker, command, work) => {
      const journal = await open();
      return journal ? journal.around({ maker, what: command }, work) : work();
    },
    look: async () => {
      if (!isHere) return null;
      const { lookAtTree } = await import("@burin/files/tree");
      return lookAtTree(request, signal);
    },
    findContainment: async (sandbox) => {
      const { findContainment } = await import("./containment.ts");
      const isKept = isHere && writer !== undefined;
      return findContainment({ request: isKept ? request : null, sandbox, signal });
    },
  };
}
