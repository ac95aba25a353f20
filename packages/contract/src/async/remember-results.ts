import { getOrCreate } from "./once.ts";

/** Returns a memoized version of a function whose result depends only on its argument. */
export function rememberResults<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => getOrCreate(known, key, make);
}
