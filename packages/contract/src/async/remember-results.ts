import { onceFor } from "./once.ts";

/** Returns the function with a memory, for what depends on the argument alone. */
export function rememberResults<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => onceFor(known, key, make);
}
