import { expect, it } from "vitest";
import { ThinkTags } from "./think-tags.ts";

it("P12 a model that writes line ends without end is not read again from the start for each", () => {
  const tags = new ThinkTags();
  let length = 0;
  for (let count = 0; count < 2_000_000; count += 1)
    for (const { text } of tags.add("\n")) length += text.length;
  for (const { text } of tags.finish()) length += text.length;
  expect(length).toBe(2_000_000);
});

it("P12 a thought begins behind some empty lines", () => {
  const tags = new ThinkTags();
  const pieces = ["\n".repeat(900), "<thi", "nk>a</think>b"].flatMap((piece) => tags.add(piece));
  expect([...pieces, ...tags.finish()]).toEqual([
    { text: "a", isThought: true },
    { text: "b", isThought: false },
  ]);
});
