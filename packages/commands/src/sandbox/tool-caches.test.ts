import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createVisibleFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";

describe("P53 what programs cache", requirePrograms("bwrap"), () => {
  let room: SandboxFixture;
  let home: string;

  beforeEach(async () => {
    room = new SandboxFixture();
    // The folders for temporary files are others in the sandbox.
    home = createVisibleFolder();
    room.open("workspace-write", false, undefined, { ...process.env, HOME: home, XDG_CACHE_HOME: undefined });
  });

  afterEach(async () => {
    await room.remove();
    await rm(home, { recursive: true });
  });

  const lines = async (command: string) => {
    const { code, text } = await room.run(command);
    expect({ command, code, text }).toMatchObject({ code: 0 });
    return text;
  };

  it("P53 a cache in the home folder can be written and read again, and is not the user's", async () => {
    await lines("mkdir -p ~/.cache/lint && echo 1 > ~/.cache/lint/state");
    expect(await lines("cat ~/.cache/lint/state")).toBe("1\n");
    expect(readdirSync(join(home, ".cache"))).toEqual([]);
    expect((await room.run("touch ~/beside")).text).toContain("Read-only file system");
  });

  it("P53 what the user has cached is read, and never changed", async () => {
    mkdirSync(join(home, ".cache/browsers/one"), { recursive: true });
    writeFileSync(join(home, ".cache/browsers/one/run"), "theirs");
    writeFileSync(join(home, ".cache/settings"), "theirs");
    expect(await lines("cat ~/.cache/browsers/one/run ~/.cache/settings")).toBe("theirstheirs");
    for (const change of [
      "echo mine > ~/.cache/browsers/one/run",
      "echo mine > ~/.cache/settings",
      "touch ~/.cache/browsers/two",
      "rm -rf ~/.cache/browsers/one",
      "echo mine > /run/user-cache/settings",
    ]) {
      expect((await room.run(`${change}; exit 0`)).text).toContain("Read-only file system");
    }
    await lines(
      "rm -rf ~/.cache/browsers ~/.cache/settings; mkdir -p ~/.cache/browsers; echo mine > ~/.cache/browsers/run",
    );
    expect(await lines("cat ~/.cache/browsers/run")).toBe("mine\n");
    expect(readFileSync(join(home, ".cache/browsers/one/run"), "utf8")).toBe("theirs");
    expect(readFileSync(join(home, ".cache/settings"), "utf8")).toBe("theirs");
    expect(existsSync(join(home, ".cache/browsers/run"))).toBe(false);
  });

  it("P53 a link that a command puts there leads no later command out, and stops none", async () => {
    mkdirSync(join(home, ".cache"));
    mkdirSync(join(home, "other"));
    await lines(`ln -s ${home}/other ~/.cache/tool; ln -sfn ${home}/other /tmp/.cache/second; true`);
    mkdirSync(join(home, ".cache/tool"));
    writeFileSync(join(home, ".cache/tool/run"), "theirs");
    mkdirSync(join(home, ".cache/second"));
    await room.run("echo mine > ~/.cache/tool/run; echo mine > ~/.cache/second/run");
    await lines("true");
    expect(readdirSync(join(home, "other"))).toEqual([]);
    expect(readFileSync(join(home, ".cache/tool/run"), "utf8")).toBe("theirs");
  });

  it("P53 variables lead the usual programs there, unless they read what the user has", async () => {
    const names =
      "npm_config_cache PIP_CACHE_DIR GOCACHE YARN_CACHE_FOLDER COMPOSER_CACHE_DIR BUN_INSTALL_CACHE_DIR CARGO_HOME";
    const shown = names
      .split(" ")
      .map((name) => `"$${name}"`)
      .join(" ");
    for (const folder of (await lines(`printf '%s\\n' ${shown}`)).trim().split("\n")) {
      expect(folder).toMatch(/^\/tmp\/\.cache\/[\w-]+$/);
    }
    mkdirSync(join(home, ".cargo/registry"), { recursive: true });
    expect(await lines("printenv CARGO_HOME || echo none")).toBe("none\n");
  });

  it("P53 a home folder that is the project keeps its own cache", async () => {
    await room.commands.close();
    room.open("workspace-write", false, undefined, { ...process.env, HOME: room.root });
    await lines("true");
    expect(readdirSync(room.root)).toEqual([]);
    await lines("mkdir -p ~/.cache/lint && echo 1 > ~/.cache/lint/state");
    expect(readFileSync(join(room.root, ".cache/lint/state"), "utf8")).toBe("1\n");
  });

  it("P53 a folder that commands may not see stays out of sight", async () => {
    mkdirSync(join(home, ".cache/seen"), { recursive: true });
    mkdirSync(join(home, ".cache/secret"));
    writeFileSync(join(home, ".cache/secret/key"), "secret");
    await room.commands.close();
    room.open("workspace-write", false, undefined, { ...process.env, HOME: home }, [
      join(home, ".cache/secret"),
    ]);
    const { text } = await room.run("cat ~/.cache/secret/key /run/user-cache/secret/key");
    expect(text).not.toContain("secret\n");
    expect(text.match(/No such file/g)).toHaveLength(2);
  });
});
