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
    const reading = queue.yieldDuring(() => work);
    let step = await reading.next();
    for (; !step.done; step = await reading.next()) seen.push(step.value);
    expect(seen).toEqual([1, 2, 3]);
    expect(step.value).toBe("done");
  });

  it("loses nothing that is pushed while its reader is on the way to wait for it", async () => {
    for (let steps = 0; steps < 20; steps += 1) {
      const queue = new EventQueue<number>();
      let finish = (): void => {};
      const work = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const reading = queue.yieldDuring(() => work);
      queue.push(1);
      await reading.next();
      const second = reading.next();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      queue.push(2);
      const late = new Promise((resolve) => setImmediate(resolve, "lost"));
      expect(await Promise.race([second, late])).toEqual({ value: 2, done: false });
      finish();
      expect((await reading.next()).done).toBe(true);
    }
  });

  it("gives what was pushed before the work failed, then the failure", async () => {
    const queue = new EventQueue<number>();
    const reading = queue.yieldDuring(async () => {
      queue.push(1);
      throw new Error("broken");
    });
    expect((await reading.next()).value).toBe(1);
    await expect(reading.next()).rejects.toThrow("broken");
  });

  it("R16 work that gives goes on when its reader wants the next value, and learns that a reader has left", async () => {
    const queue = new EventQueue<number>();
    const steps: string[] = [];
    const work = async () => {
      for (let value = 1; ; value += 1) {
        steps.push(`gives ${value}`);
        await queue.addAndWait(value).finally(() => steps.push(`after ${value}`));
      }
    };
    let ended: Promise<void> | undefined;
    const start = () => {
      ended = work();
      return ended;
    };
    const reading = queue.yieldDuring(start, () => steps.push("left"));
    expect(steps).toEqual([]);
    expect((await reading.next()).value).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual(["gives 1"]);
    expect((await reading.next()).value).toBe(2);
    await reading.return(undefined);
    await expect(ended).rejects.toThrow("The consumer of the events has stopped.");
    expect(steps).toEqual(["gives 1", "after 1", "gives 2", "left", "after 2"]);
    await expect(queue.addAndWait(3)).rejects.toThrow("The consumer of the events has stopped.");
  });
});
