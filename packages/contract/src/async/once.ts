/** Does the work at the first call and returns the same outcome from then on. */
export function once<T>(work: () => T): () => T {
  let outcome: { readonly value: T } | undefined;
  return () => {
    outcome ??= { value: work() };
    return outcome.value;
  };
}

/** Returns what a key stands for; it is made when it is first asked for. */
export function onceFor<Key, Value>(
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
