import { HELP_OPTIONS, type NetworkRow } from "./network-row.ts";

export const CURL_VALUES = `-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --data --data-raw
  --data-binary --data-urlencode --json --form --form-string --header --request --output --output-dir --user
  --user-agent --referer --cookie --cookie-jar --max-time --connect-timeout --retry --retry-delay --retry-max-time
  --cacert --capath --cert --key --proxy --range --upload-file --write-out --url-query --limit-rate --interface
  --resolve --connect-to --config --max-redirs --oauth2-bearer --aws-sigv4 --unix-socket --dump-header --trace
  --trace-ascii --netrc-file`;
const WGET_VALUES = `-O -o -a -P -i -e -t -T -w -Q -U -l -A -R -D -I -X --output-document --output-file --tries --wait
  --directory-prefix --timeout --header --user --password --user-agent --post-data --level --limit-rate`;
const SSH_VALUES = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w";
const REMOTE_VALUES = `-b -o -c -j -u --branch --origin --config --depth --jobs --filter --reference --template
  --reference-if-able --separate-git-dir --upload-pack --shallow-since --shallow-exclude --server-option --bundle-uri
  -s -X --strategy --strategy-option --refmap --negotiation-tip --deepen --push-option --receive-pack --exec --sort`;
const OWN_PROTOCOL = { noProxy: true, does: "connects to another machine without HTTP" };
const SERVICE = { isSending: true, does: "talks to a service as you" };

/** The other programs that use the network. Order matters: the first row that matches counts. */
export const OTHER_NETWORK_ROWS: readonly NetworkRow[] = [
  {
    programs: "git",
    subcommands: "clone",
    values: REMOTE_VALUES,
    goesTo: "remote",
    needsAddress: true,
    does: "fetches a repository",
    example: "git clone --depth 1 https://example.org/a.git",
  },
  {
    programs: "git",
    subcommands: "fetch pull",
    only: "--all --multiple",
    goesTo: "every remote",
    does: "fetches from every remote",
    example: "git fetch --all --prune",
  },
  {
    programs: "git",
    subcommands: "fetch pull ls-remote fetch-pack http-fetch",
    values: REMOTE_VALUES,
    goesTo: "remote",
    does: "fetches from a remote",
    example: "git pull --rebase origin main",
  },
  {
    programs: "git",
    subcommands: "push send-pack http-push",
    values: "-o --push-option --receive-pack --exec --repo",
    goesTo: "remote",
    isSending: true,
    does: "sends commits to a remote",
    example: "git push -u origin HEAD",
  },
  {
    programs: "git",
    subcommands: "submodule",
    values: "-b --branch --depth --jobs -j --reference --name",
    offline: "--no-fetch -N",
    goesTo: "submodules",
    does: "fetches submodules",
    example: "git submodule update --init --recursive",
  },
  {
    programs: "git",
    subcommands: "remote",
    only: "update show prune",
    offline: "-n",
    goesTo: "every remote",
    does: "asks remotes",
    example: "git remote update",
  },
  {
    programs: "git",
    subcommands: "lfs svn p4 send-email annex request-pull",
    goesTo: "unknown",
    offline: `${HELP_OPTIONS} ls-files status track untrack env`,
    does: "talks to a server",
    example: "git lfs pull",
  },
  {
    programs: "curl xh http https httpie",
    values: CURL_VALUES,
    offline: `${HELP_OPTIONS} -V`,
    goesTo: "addresses",
    hostOption: "-x --proxy --preproxy --socks5 --socks5-hostname --socks4 --doh-url --url",
    unseen: "-K --config --resolve --connect-to",
    does: "sends a request",
    example: "curl -fsSL -o a.tgz https://example.org/a.tgz",
  },
  {
    programs: "wget wget2 aria2c axel",
    values: WGET_VALUES,
    offline: HELP_OPTIONS,
    goesTo: "addresses",
    unseen: "-i --input-file -e --execute",
    does: "downloads",
    example: "wget -q https://example.org/a.tgz",
  },
  {
    programs: "lynx w3m links elinks yt-dlp youtube-dl httping ab wrk hey",
    offline: HELP_OPTIONS,
    values: "-o -c -n -t -d -f",
    goesTo: "addresses",
    does: "sends a request",
    example: "ab -n 10 https://example.org/",
  },
  {
    programs: "ssh autossh mosh sftp ssh-copy-id telnet nc ncat netcat ftp lftp",
    values: SSH_VALUES,
    offline: "-V -l --listen -h",
    goesTo: "machine",
    ...OWN_PROTOCOL,
    example: "ssh -p 2222 me@example.org uptime",
  },
  {
    programs: "scp rsync rclone tar",
    values: `${SSH_VALUES} --rsh --exclude --include`,
    offline: "--force-local",
    goesTo: "files",
    ...OWN_PROTOCOL,
    example: "rsync -a dist/ me@example.org:/srv/www/",
  },
  {
    programs: "ping ping6 traceroute tracepath mtr dig host nslookup whois nmap ntpdate ssh-keyscan",
    values: "-c -i -W -w -t -p -m -q",
    offline: HELP_OPTIONS,
    goesTo: "machine",
    ...OWN_PROTOCOL,
    example: "ping -c 1 example.org",
  },
  {
    programs: "psql pg_dump pg_restore createdb dropdb pg_isready",
    goesTo: "option",
    hostOption: "-h --host",
    ...OWN_PROTOCOL,
    example: "psql -h db.example.org -c 'select 1'",
  },
  {
    programs: "mysql mysqldump mariadb mysqladmin redis-cli mongosh mongo",
    goesTo: "option",
    hostOption: "-h --host -u",
    ...OWN_PROTOCOL,
    example: "redis-cli -h cache.example.org ping",
  },
  {
    programs: "gh",
    offline: `${HELP_OPTIONS} --hostname`,
    goesTo: "hosts",
    hosts: "github.com api.github.com",
    ...SERVICE,
    example: "gh pr list",
  },
  {
    programs: "gh",
    only: "--hostname",
    goesTo: "unknown",
    ...SERVICE,
    example: "gh pr list --hostname git.example.org",
  },
  {
    programs: `glab aws gcloud gsutil az doctl heroku fly flyctl vercel netlify wrangler firebase kubectl oc ansible
      ansible-playbook sentry-cli codecov railway supabase stripe s3cmd`,
    offline: `${HELP_OPTIONS} version completion`,
    goesTo: "unknown",
    ...SERVICE,
    example: "kubectl get pods",
  },
  {
    programs: "rustup",
    subcommands: "update install toolchain component target self default",
    offline: `${HELP_OPTIONS} list`,
    goesTo: "unknown",
    does: "fetches toolchains",
    example: "rustup target add wasm32-wasip1",
  },
  {
    programs: "nvm fnm volta pyenv rbenv asdf mise n corepack playwright puppeteer",
    subcommands: "install install-deps use prepare up upgrade update ls-remote list-remote",
    offline: `${HELP_OPTIONS} list`,
    goesTo: "unknown",
    isPossible: true,
    does: "fetches programs that are missing",
    example: "playwright install chromium",
  },
  {
    programs: "svn hg bzr fossil cvs",
    subcommands: "checkout co update up clone pull push commit ci incoming in outgoing out",
    offline: HELP_OPTIONS,
    goesTo: "unknown",
    does: "talks to a server",
    example: "svn checkout https://example.org/svn/a",
  },
];
