/** The address for messages: no query, no user name, nothing secret. */
export function formatUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
