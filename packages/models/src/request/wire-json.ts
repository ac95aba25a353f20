/** Half a surrogate pair (a cut through an emoji) is legal JSON, but strict services refuse the request. */
export function wireJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud") || !/(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/.test(json)) return json;
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "string" ? inner.replace(/\p{Surrogate}/gu, "\ufffd") : inner,
  );
}
