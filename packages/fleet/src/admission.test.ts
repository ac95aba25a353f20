import { expect, it } from "vitest";
import { chooseWithinLimits } from "./admission.ts";

const keyOf = (tenant: string, model: string) => JSON.stringify([tenant, model]);
const waits = (id: string, tenant: string, model: string) => ({ id, key: keyOf(tenant, model) });
const works = (count: number, tenant: string, model: string) => ({
  queue: "q",
  key: keyOf(tenant, model),
  count,
});

const waiting = [
  waits("1", "a", "x/small"),
  waits("2", "a", "x/large"),
  waits("3", "b", "x/small"),
  waits("4", "b", "y/small"),
];

it("P44 takes as many tasks as there is room for, and no limit without one", () => {
  expect(chooseWithinLimits({}, { waiting, atWork: [works(9, "a", "x/small")], room: 3 })).toEqual([
    "1",
    "2",
    "3",
  ]);
});

it("P44 counts what all workers have, and what it takes itself, for each of the three limits", () => {
  const atWork = [works(1, "c", "x/small")];
  const choose = (limits: Parameters<typeof chooseWithinLimits>[0]) =>
    chooseWithinLimits(limits, { waiting, atWork, room: 9 });
  expect(choose({ perModel: 1 })).toEqual(["2", "4"]);
  expect(choose({ perModel: 2 })).toEqual(["1", "2", "4"]);
  expect(choose({ perProvider: 1 })).toEqual(["4"]);
  expect(choose({ perProvider: 2 })).toEqual(["1", "4"]);
  expect(choose({ perTenant: 1 })).toEqual(["1", "3"]);
  expect(choose({ perTenant: 1, perModel: 2, perProvider: 2 })).toEqual(["1", "4"]);
});
