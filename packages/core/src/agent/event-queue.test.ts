import { describe, expect, it } from "vitest";
import { EventQueue } from "./event-queue.ts";

describe("EventQueue", () => {
  it("gives everything that was pushed, in order, then the result of the work", async () => {
    const queue = new EventQueue<number>();
    const work = (async () => {
      queue.push(1);
      await Promise.resolve();
      queue.push(2);
      await new Promise((resolve) => setTimeout(resolve, 5));
      queue.push(3);
      return "done";
    })();
    const seen: number[] = [];
    const reading = queue.during(work);
    let step = await reading.next();
    for (; !step.done; step = await reading.next()) seen.push(step.value);
    expect(seen).toEqual([1, 2, 3]);
    expect(step.value).toBe("done");
  });

  it("gives what was pushed before the work failed, then the failure", async () => {
    const queue = new EventQueue<number>();
    const reading = queue.during(
      (async () => {
        queue.push(1);
        throw new Error("broken");
      })(),
    );
    expect((await reading.next()).value).toBe(1);
    await expect(reading.next()).rejects.toThrow("broken");
  });
});
