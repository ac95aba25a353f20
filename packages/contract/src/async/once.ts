/** Returns a function that does the work on its first call and returns the same result from then on. */
export function once<T>(work: () => T): () => T {
  let outcome: { readonly value: T } | undefined;
  return () => {
    outcome ??= { value: work() };
    return outcome.value;
  };
}

/** Returns the value for a key, and creates it on the first request. */
export function getOrCreate<Key, Value>(
  known: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: (key: Key) => Value,
): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make(key);
  known.set(key, made);
  return made;
}

/** Returns the function with a memory, for what depends on the argument alone. */
export function rememberResults<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => getOrCreate(known, key, make);
}
