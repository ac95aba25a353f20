import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAnswers, openRoom, query, type Reply, type Room, waitUntil } from "./fleet-room.mjs";

const usage = { inputTokens: 90, outputTokens: 10 };
const ATTACK = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
const shell = (command: string) => ({ calls: [{ name: "run_shell_command", args: { command } }], usage });

const replies = new Map<string, Reply>();
let room: Room;
let page: Page;

type Page = Awaited<ReturnType<typeof openPage>>;

beforeAll(async () => {
  room = await openRoom((messages) => {
    const words = JSON.stringify(messages.filter(({ role }) => role === "user"));
    const found = [...replies].find(([name]) => words.includes(name));
    return found === undefined ? { text: "nothing to do", usage } : found[1](messages);
  });
  replies.set("change it", (messages) =>
    listAnswers(messages).length === 0
      ? shell("echo more >> start.txt")
      : { text: "a zero: \0 and half a pair: \ud83d", usage },
  );
  replies.set("ask me", (messages) =>
    listAnswers(messages).length === 0 ? shell("touch yes.txt") : { text: `${ATTACK} as you like`, usage },
  );
  const file = await room.writeTasks([
    { id: "change", prompt: "change it" },
    { id: "attack", prompt: ATTACK },
    { id: "ask", prompt: "ask me", approvalMode: "default" },
    { id: "broken", prompt: '100% of "it"_', setup: `echo broken; test -e ${join(room.folder, "fixed")}` },
  ]);
  await room.fleet("run", file, "--run", "first");
  page = await openPage();
});

afterAll(async () => {
  await room.close();
});

async function openPage() {
  const { soFar, child } = room.commands.start(["serve"]);
  await waitUntil(() => soFar.stdout.includes("\n") || child.exitCode !== null);
  const url = new URL(soFar.stdout.trim());
  const headers = { authorization: `Bearer ${url.hash.slice(1)}`, "content-type": "application/json" };
  return {
    url,
    get: async (path: string) => JSON.parse(await (await fetch(new URL(path, url), { headers })).text()),
    post: async (path: string, body = {}) => {
      const response = await fetch(new URL(path, url), {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, answer: JSON.parse(await response.text()) };
    },
  };
}

/** The status of a request with these headers alone. */
function statusOf(
  path: string,
  headers: Record<string, string>,
  method = "GET",
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(page.url, { path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}

const kindsOf = ({ entries }: { entries: { kind: string }[] }) => entries.map(({ kind }) => kind);

describe("burin fleet serve", requirePrograms("PostgreSQL"), () => {
  it("shows all runs with counts and cost, the tasks of one by state and words, and what happened in a task", async () => {
    const { runs, total, waiting } = await page.get("/api/runs");
    expect([total, waiting]).toEqual([1, 1]);
    expect(runs[0]).toMatchObject({
      name: "first",
      tasks: 4,
      success: 2,
      waiting: 1,
      failed: 1,
      tokens: 400,
    });
    const idsOf = async (list: string) => {
      const { tasks } = await page.get(`/api/runs/first?${list}`);
      return tasks.map(({ id }: { id: string }) => id.slice("first.".length)).sort();
    };
    expect(await idsOf("")).toEqual(["ask", "attack", "broken", "change"]);
    expect(await idsOf("state=failed")).toEqual(["broken"]);
    expect(await idsOf("state=success&search=change")).toEqual(["change"]);
    expect(await idsOf(`search=${encodeURIComponent('% of "it"_')}`)).toEqual(["broken"]);
    expect(await idsOf("search=it__")).toEqual([]);
    expect(await idsOf("offset=4")).toEqual([]);
    const broken = await page.get("/api/tasks/first.broken?from=0");
    expect(broken.words).toContain("The setup command failed: exit code 1");
    const task = await page.get("/api/tasks/first.change?from=0");
    expect(task).toMatchObject({
      state: "success",
      turns: 2,
      tokens: 200,
      words: "a zero: /u0000 and half a pair: /ud83d",
      hasPatch: true,
    });
    const results = JSON.parse((await room.fleet("results", "first", "--json")).stdout);
    const change = results.find(({ id }: { id: string }) => id === "first.change");
    expect(change).toMatchObject({ result: "a zero: \0 and half a pair: \ud83d", turns: 2 });
    expect(kindsOf(task)).toEqual(["worker", "said", "call", "call", "call", "said", "end"]);
    const again = await page.get(`/api/tasks/first.change?from=${task.next}`);
    expect(again).toMatchObject({ entries: [], next: task.next, hasMore: false });
    const { patch, files } = await page.get("/api/tasks/first.change/patch");
    expect(patch).toContain(" start\n+more\n");
    expect(JSON.stringify(files)).toContain('{"sign":"+","number":2,"text":"more"}');
    const attack = await page.get("/api/tasks/first.attack?from=0");
    expect(attack.entries.find(({ kind }: { kind: string }) => kind === "said").text).toBe(ATTACK);
  });

  it("answers nobody without the token, from another site or under another name, and lets nothing from elsewhere in", async () => {
    const authorization = `Bearer ${page.url.hash.slice(1)}`;
    const host = page.url.host;
    expect(await statusOf("/api/runs", { authorization })).toBe(200);
    expect(await statusOf("/api/runs", { authorization, host: `localhost:${page.url.port}` })).toBe(200);
    expect(await statusOf("/api/runs", {})).toBe(401);
    const wrong = authorization.replace(/.$/, (last) => (last === "_" ? "-" : "_"));
    expect(await statusOf("/api/runs", { authorization: wrong })).toBe(401);
    expect(await statusOf("/api/runs?token=x", { cookie: authorization })).toBe(401);
    expect(await statusOf("/api/tasks/first.ask/cancel", {}, "POST")).toBe(401);
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"])
      expect(await statusOf("/api/runs", { authorization, origin })).toBe(403);
    for (const other of ["evil.example", `evil.example:${page.url.port}`, "127.0.0.1"])
      expect(await statusOf("/", { host: other })).toBe(403);
    for (const path of [
      "/../package.json",
      "/%2e%2e/package.json",
      "/page/../../package.json",
      "/api/x",
      "/api/tasks/%",
      "/api/tasks/%00",
      "/api/runs?search=%00",
    ])
      expect(await statusOf(path, { authorization })).toBe(404);
    // It cannot be read as an address, and comes without the token.
    expect(await statusOf("//", {})).toBe(404);
    expect(await statusOf("/api/tasks/first.ask/cancel", { authorization }, "POST")).toBe(415);
    expect(await statusOf("/api/tasks/first.none?from=0", { authorization, host })).toBe(404);
    for (const path of ["/", "/page.js", "/parts.js", "/lists.js", "/task.js", "/page.css", "/task.css"]) {
      const { status, headers } = await fetch(new URL(path, page.url));
      expect(status).toBe(200);
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("answers a question that is still asked, and no other; cancels a task and has it tried again", async () => {
    const { question } = await page.get("/api/tasks/first.ask?from=0");
    expect(question.confirmation.command).toBe("touch yes.txt");
    const path = "/api/tasks/first.ask/answer";
    const stale = await page.post(path, { question: "another", yes: true });
    expect(stale).toEqual({ status: 409, answer: { error: "This question has already been answered." } });
    expect(await page.post(path, { question: question.id, yes: true })).toEqual({
      status: 200,
      answer: { told: "no worker runs; to continue: burin fleet worker, or the same with --follow" },
    });
    expect((await page.post(path, { question: question.id, yes: true })).status).toBe(409);
    const { tokens, state } = await page.get("/api/tasks/first.ask?from=0");
    expect([tokens, state]).toEqual([100, "queued"]);

    const begun = join(room.folder, "begun");
    replies.set("take long", (messages) =>
      listAnswers(messages).length === 0 ? shell(`touch ${begun}; exec sleep 600`) : { text: "later", usage },
    );
    const file = await room.writeTasks([{ id: "long", prompt: "take long" }]);
    await room.fleet("run", file, "--run", "second", "--no-follow");
    const worker = await room.commands.startWorker(2);
    await waitUntil(() => existsSync(begun));
    expect((await page.get("/api/runs/second")).counts).toMatchObject({ running: 1, tokens: 100 });
    expect((await page.post("/api/tasks/second.long/cancel")).answer.told).toBe("1 task cancelled");
    expect((await page.get("/api/runs/second")).counts).toMatchObject({ cancelled: 1, tokens: 100 });
    await writeFile(join(room.folder, "fixed"), "");
    expect((await page.post("/api/runs/first/retry")).answer.told).toBe("1 task back in the queue");
    for (const id of ["first.broken", "first.ask"]) await waitUntil(() => room.hasEnded(id));
    const fixed = await page.get("/api/tasks/first.broken?from=0");
    expect(fixed).toMatchObject({ state: "success", words: "nothing to do", tokens: 100 });
    const asked = await page.get("/api/tasks/first.ask?from=0");
    expect(asked).toMatchObject({
      state: "success",
      tokens: 200,
      words: `${ATTACK} as you like`,
      question: null,
    });
    worker.child.kill("SIGINT");
    await worker.end;
  });

  it("pages through 10,000 runs and 10,000 tasks in the database", async () => {
    // The engine's own function for other languages.
    for (const id of ["'many.t' || lpad(n::text, 5, '0')", "'x' || n || '.t'"]) {
      const text = `select dbos.enqueue_workflow('task', 'none', workflow_id => ${id}) from generate_series(1, 10000) n`;
      await query(room.databaseUrl(), text);
    }
    const runs = await page.get("/api/runs?search=x&offset=9950");
    expect(runs.total).toBe(10_000);
    expect(runs.runs).toHaveLength(50);
    const { tasks, total, counts } = await page.get("/api/runs/many?offset=9990&state=queued");
    expect([total, counts.queued, tasks.length]).toEqual([10_000, 10_000, 10]);
    expect(tasks[9].id).toBe("many.t10000");
    expect((await page.get("/api/runs?search=x9999")).total).toBe(1);
  });
});
