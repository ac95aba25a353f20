type Method = (...given: never[]) => Promise<unknown>;

/** Methods of something that most starts of Burin have no use for: it is loaded and made with the first call of one. */
export function lazily<T extends { [K in Name]: Method }, Name extends keyof T>(
  open: () => Promise<T>,
  names: readonly Name[],
): Pick<T, Name> {
  const late =
    (name: Name) =>
    async (...given: never[]) =>
      (await open())[name](...given);
  return Object.fromEntries(names.map((name) => [name, late(name)])) as Pick<T, Name>;
}
