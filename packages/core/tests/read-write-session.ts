import { type AnsweredCall, type Confirm, createToolbox } from "@burin/core";

export interface ReadWriteSession {
  readonly read: (path: string, part?: { offset: number; limit: number }) => Promise<AnsweredCall>;
  readonly write: (path: string, content: string) => Promise<AnsweredCall>;
}

/** read_file and write_file behind the whole flow; without `confirm` everything is allowed unasked. */
export function readWriteSession(root: string, confirm?: Confirm): ReadWriteSession {
  const toolbox = createToolbox({
    root,
    ...(confirm ? { confirm, approvalMode: "default" } : { approvalMode: "yolo" }),
  });
  return {
    read: (path, part = undefined) => toolbox.run("read_file", { path, ...part }),
    write: (path, content) => toolbox.run("write_file", { file_path: path, content }),
  };
}

export const yes: Confirm = () => Promise.resolve({ outcome: "once" });

export function errorType(answer: AnsweredCall): string | undefined {
  return answer.status === "success" ? undefined : answer.error.type;
}
