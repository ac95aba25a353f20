import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { gitHome } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { takeBackMade } from "./sandbox-guard.ts";
import { type Survey, Surveyor } from "./sandbox-survey.ts";

/** Something is finished right after everything was looked at, once. */
class Overtaken extends Surveyor {
  onLooked: (() => void) | null = null;

  override look(named?: Iterable<string>): Survey {
    const survey = super.look(named);
    this.onLooked?.();
    this.onLooked = null;
    return survey;
  }
}

/** A submodule whose git folder becomes one while a look at what the command made is under way. */
function submoduleMade(more: (folder: string) => void) {
  const { base, root, git, write, makeRepository } = gitHome();
  makeRepository(root);
  makeRepository(join(base, "library"));
  const surveyor = new Overtaken([root], join(base, "temporary"));
  const before = { since: Date.now(), ...surveyor.look() };
  git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", join(base, "library"), "module");
  const folder = join(root, ".git/modules/module");
  more(folder);
  const head = join(folder, "HEAD");
  renameSync(head, `${head}.lock`);
  surveyor.onLooked = () => renameSync(`${head}.lock`, head);
  const taken = takeBackMade(before, { surveyor, roots: [root], home: join(base, "home"), isGoingOn: true });
  return { taken: taken.map(({ path }) => path), root, write };
}

it("P53 a submodule that git is making while its folder is looked at stays whole", () => {
  const { taken, root } = submoduleMade(() => {});
  expect(taken).toEqual([]);
  expect(existsSync(join(root, "module/.git"))).toBe(true);
});

it("P53 P21 one that has a hook by then is taken back", () => {
  const { taken, root } = submoduleMade((folder) => {
    renameSync(join(folder, "hooks/pre-push.sample"), join(folder, "hooks/pre-push"));
  });
  expect(taken).toEqual([join(root, "module/.git")]);
});
