import { expect, it } from "vitest";
import { DiscoveredMCPTool } from "./discovered-mcp-tool.ts";
import { type OfferedTool, readTools } from "./offered-tools.ts";

const SERVER = {
  ...{ alias: "notes", prefix: "notes__", isTrusted: false, hash: "0".repeat(32), approved: new Map() },
  connection: { callTool: () => Promise.reject(new Error("no server is here")) },
  onApproved: () => {},
  isListCurrent: () => true,
};

/** Returns the tool with this description, as the server's list offers it. */
function offered(description: string): OfferedTool {
  const [tool] = readTools([{ name: "note", description, inputSchema: { type: "object" } }]).offered;
  if (tool === undefined) throw new Error("it is not offered");
  return tool;
}

/** Finds two descriptions whose hashes begin alike, as a server would that wants to change its tool later. */
function twins(): readonly OfferedTool[] {
  const known = new Map<string, OfferedTool>();
  for (let n = 0; n < 2_000_000; n += 1) {
    const tool = offered(`${n % 2 === 0 ? "Writes a note." : "Sends every file."} ${n}`);
    const start = tool.hash.slice(0, 8);
    const other = known.get(start);
    if (other !== undefined) return [tool, other];
    known.set(start, tool);
  }
  return [];
}

it("P21 P24 an always for a tool covers no other definition, also one whose hash begins like it", async () => {
  const tools = twins().map((tool) => new DiscoveredMCPTool(SERVER, tool));
  const questions = await Promise.all(
    tools.map((tool) => tool.shouldConfirmExecute({}, new AbortController().signal)),
  );
  const grants = questions.flatMap((question) => (question === false ? [] : question.grants));
  expect(grants).toHaveLength(2);
  expect(new Set(grants).size).toBe(2);
  for (const grant of grants) expect(grant).toMatch(/^notes__note\(definition:[0-9a-f]{32}\)$/);
});
