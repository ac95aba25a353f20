import { createToolbox } from "@burin/core";
import { afterEach, describe, expect, it } from "vitest";
import { translateReason } from "./reasons.ts";
import { useTexts } from "./say.ts";

describe("R50: reasons of questions in the user's language", () => {
  afterEach(() => useTexts("en"));

  it("R50: says in every language why a command is asked about", async () => {
    const commands = [
      "npm install left-pad",
      "rm -r build",
      "git push origin main",
      "echo a > b.txt",
      "cat ~/x",
    ];
    const toolbox = createToolbox({ root: import.meta.dirname });
    const reasons = await Promise.all(commands.map((command) => toolbox.explain(command)));
    await toolbox.close();
    for (const name of ["fr", "ja", "zh", "ru"] as const) {
      await useTexts(name);
      for (const [index, { reason }] of reasons.entries()) {
        const words = translateReason(reason);
        expect(words).toContain(`\`${commands[index]}\``);
        expect(words.replace(/`[^`]*`/g, "")).not.toMatch(/[a-z]{3,} (?:is|to|an?|the|not) /);
      }
    }
  });

  it("R50: speaks of edits in plain English, and leaves what it does not know as it is", () => {
    expect(translateReason("edit asks before it acts, and no rule allows this call")).toBe(
      "Edits need your OK in this mode",
    );
    expect(translateReason("forms__note asks before it acts, and no rule allows this call")).toBe(
      "forms__note needs your OK in this mode",
    );
    expect(translateReason("a reason of tomorrow")).toBe("a reason of tomorrow");
  });

  it("R50: translates a word that is known only when the command runs", async () => {
    await useTexts("ru");
    expect(translateReason("what `$X` stands for is known only when it runs")).toBe(
      "значение `$X` станет известно только при запуске",
    );
  });

  it("R50: translates what is added about protected files, too", async () => {
    await useTexts("fr");
    expect(
      translateReason(
        "`sh x` needs an approval: `sh` is not known to be read-only; it writes protected files: .npmrc (keys)",
      ),
    ).toBe(
      "`sh x` demande votre accord\u00a0: on ne sait pas si `sh` se limite à lire\u00a0; elle écrit des fichiers protégés\u00a0: .npmrc (keys)",
    );
  });
});
