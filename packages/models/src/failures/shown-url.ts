/** Returns a URL for messages, without query and user name, so nothing secret is shown. */
export function formatUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
