import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { expect, it } from "vitest";
import type { ToolsHost } from "./place.ts";
import { PlainCalls } from "./plain-calls.ts";

it("what the library gets it has seen before the next message is read, so that changed roots hold for a call behind them", async () => {
  const seen: JSONRPCMessage[] = [];
  const wire = {
    async onmessage(message: JSONRPCMessage) {
      // As the library, which passes a message on through several promises.
      for (let step = 0; step < 20; step += 1) await null;
      seen.push(message);
    },
  };
  const calls = new PlainCalls({} as ToolsHost, wire as unknown as Transport);
  const changed = { jsonrpc: "2.0", method: "notifications/roots/list_changed" } as const;
  await calls.receiveMessage(changed);
  expect(seen).toEqual([changed]);
});
