import { describe, expect, it } from "vitest";
import { guessServices, KEY_FORMS } from "./key-forms.ts";

describe("the service of a key", () => {
  it.each(KEY_FORMS)("P19 is guessed by its form: $services.0", ({ example, services }) => {
    expect(guessServices(example)).toEqual(services);
    expect(guessServices(` ${example}\n`)).toEqual(services);
  });

  it.each([
    "",
    "openai",
    "another",
    "try the demo",
    "sk-",
    "https://example.org/v1",
    "sk-ant-a b c d e f g h",
  ])("P19 is not guessed for what is no key: %j", (words) => {
    expect(guessServices(words)).toEqual([]);
  });
});
