/** Returns the result of the work, or `otherwise` when it throws. */
export function withFallback<Value, Other>(otherwise: Other, work: () => Value): Value | Other {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
