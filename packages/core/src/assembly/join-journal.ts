import { nodeMachine } from "@burin/commands/node-machine";
import { once } from "@burin/contract/async/once";
import { HARMLESS_KINDS } from "@burin/contract/tools";
import { snapshotTree, type TreeSnapshot } from "@burin/files/tree";
import type { CallJournal } from "../scheduler/call-journal.ts";
import { BUILT_IN_SOURCE, type ToolRegistry } from "../tools/tool-registry.ts";
import { type Containment, type ContainmentOptions, findContainment } from "./containment.ts";
import type { Home } from "./home.ts";

interface JournalOptions {
  readonly home: Home;
  readonly roots: readonly string[];
  readonly registry: ToolRegistry;
  /** The id under which changes are stored for undo; undefined if nothing is stored. */
  readonly writer: string | undefined;
  readonly isCopy: boolean;
  readonly report: (message: string) => void;
  readonly signal: AbortSignal;
}

export interface JoinedJournal {
  readonly ofCalls: CallJournal;
  /** Runs a command outside any call (a hook, or the check at the end of a run) and stores what it changes for undo. */
  readonly ofCommand: <T>(maker: "hook" | "check", command: string, work: () => Promise<T>) => Promise<T>;
  /** Lists the files that are not ignored. Resolves to null on another machine, where this is not possible. */
  readonly look: () => Promise<TreeSnapshot | null>;
  /** Finds the containment for commands that run without a question, or says why no command may. */
  readonly findContainment: (sandbox: ContainmentOptions["sandbox"]) => Promise<Containment | string>;
}

/** Creates the journal of what calls change by other means than the file tools, which store their own changes. */
export function joinJournal({
  home,
  roots,
  registry,
  writer,
  isCopy,
  report,
  signal,
}: JournalOptions): JoinedJournal {
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
      if (HARMLESS_KINDS.has(tool.kind) || reads === "wholly") return work();
      const isOwn = registry.getToolSource(tool.name) === BUILT_IN_SOURCE;
      if (isOwn && (tool.kind === "edit" || args.command === undefined)) return work();
      const journal = await open();
      return journal
        ? journal.runRecorded({ maker: tool.name, what: description, callId: id }, work)
        : work();
    },
    ofCommand: async (maker, command, work) => {
      const journal = await open();
      return journal ? journal.runRecorded({ maker, what: command }, work) : work();
    },
    look: async () => {
      if (!isHere) return null;
      return snapshotTree(request, signal);
    },
    findContainment: async (sandbox) => {
      const journal = await open();
      const isMadeHere = (path: string, stamp: string) => journal?.hasMade(path, stamp) ?? false;
      return findContainment({
        ...{ request: journal && !isCopy ? request : null, isCopy: isCopy && isHere },
        ...{ sandbox, isMadeHere, signal },
      });
    },
  };
}
