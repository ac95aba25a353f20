/** What the work returns, or the other value when it throws. */
export function orElse<Value, Other>(otherwise: Other, work: () => Value): Value | Other {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
