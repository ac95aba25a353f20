/** Does the work at the first call and returns the same outcome from then on. */
export function once<T>(work: () => T): () => T {
  let outcome: { readonly value: T } | undefined;
  return () => {
    outcome ??= { value: work() };
    return outcome.value;
  };
}
