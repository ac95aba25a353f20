import { readFileSync } from "node:fs";
import { madeFile, temporaryFolder } from "@burin/testing/made-files";
import { beforeEach } from "vitest";
import type { Confirm } from "../src/index.ts";
import { type ReadWriteSession, readWriteSession } from "./read-write-session.ts";

/** A new folder for each test. */
export let root: string;

beforeEach(() => {
  root = temporaryFolder();
});

export function file(name: string, content: string | Uint8Array): string {
  return madeFile(root, name, content);
}

export function text(path: string): string {
  return readFileSync(path, "utf8");
}

export function session(confirm?: Confirm): ReadWriteSession {
  return readWriteSession(root, confirm);
}
