type Method = (...given: never[]) => Promise<unknown>;

/** Returns methods that create their object and load its code on the first call: most starts do not need it. */
export function createLazyMethods<T extends { [K in Name]: Method }, Name extends keyof T>(
  open: () => Promise<T>,
  names: readonly Name[],
): Pick<T, Name> {
  let opened: T | undefined;
  const openTarget = async () => {
    opened = await open();
    return opened;
  };
  const wrapMethod =
    (name: Name) =>
    (...given: never[]) =>
      opened === undefined ? openTarget().then((made) => made[name](...given)) : opened[name](...given);
  return Object.fromEntries(names.map((name) => [name, wrapMethod(name)])) as Pick<T, Name>;
}
