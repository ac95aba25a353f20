/** Returns the URL of the raw file that a code host's page shows; null for any other page. */
export function findRawFileUrl(url: URL): URL | null {
  const raw = findRawAddress(url);
  if (raw === null) return null;
  const target = new URL(raw);
  target.hash = "";
  return target;
}

function findRawAddress({ hostname, origin, pathname }: URL): string | null {
  const [owner = "", project = "", view = "", ...rest] = pathname.slice(1).split("/");
  const hasFile = rest.length >= 2 && rest.at(-1) !== "";
  switch (hostname) {
    case "github.com":
    case "www.github.com":
      if (!hasFile || (view !== "blob" && view !== "raw")) return null;
      return `https://raw.githubusercontent.com/${owner}/${project}/${rest.join("/")}`;
    case "gist.github.com":
      return owner !== "" && /^[0-9a-f]{20,}$/.test(project) && view === ""
        ? `https://gist.githubusercontent.com/${owner}/${project}/raw`
        : null;
    case "bitbucket.org":
    case "codeberg.org":
      return hasFile && view === "src" ? `${origin}/${owner}/${project}/raw/${rest.join("/")}` : null;
    default:
  }
  // GitLab may be on a host of any name, but its paths to files are unmistakable.
  const file = /^(\/[^/].*?)\/-\/blob\/(.+[^/])$/.exec(pathname);
  return file ? `${origin}${file[1]}/-/raw/${file[2]}` : null;
}
