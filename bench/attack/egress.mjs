// Commands that try to reach what nobody allowed through the proxy of their session, or past it: as this user and, for
// root, as an ordinary one as well. All servers are on this machine's loopback.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createListener } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run as attackByNames } from "./rebinding.mjs";

const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
const NOBODY = 65_534;
const MARK = "reached-what-was-not-allowed";

/** Says to the proxy, byte for byte, what the arguments say; with PORT, LOGIN and NL filled in. Prints what comes back. */
const SAY = `
import os, re, socket, sys
user, word, port = re.match(r"http://(\\w+):(\\w+)@127.0.0.1:(\\d+)", os.environ["http_proxy"]).groups()
import base64
login = "Proxy-Authorization: Basic " + base64.b64encode((user + ":" + word).encode()).decode()
s = socket.create_connection(("127.0.0.1", int(port)), 10)
s.settimeout(8)
for piece in sys.argv[1:]:
    s.sendall(piece.replace("LOGIN", login).replace("NL", "\\r\\n").encode("latin1"))
    try: sys.stdout.write(s.recv(65536).decode("latin1"))
    except OSError as error: print("OS", error)
try:
    while True:
        more = s.recv(65536)
        if not more: break
        sys.stdout.write(more.decode("latin1"))
except OSError as error: print("OS", error)
`;

/** A ClientHello for that name (none when empty), through a tunnel to that place. Prints what the other side says. */
const HELLO = `
import base64, os, re, socket, ssl, sys
user, word, port = re.match(r"http://(\\w+):(\\w+)@127.0.0.1:(\\d+)", os.environ["http_proxy"]).groups()
login = base64.b64encode((user + ":" + word).encode()).decode()
s = socket.create_connection(("127.0.0.1", int(port)), 10)
s.settimeout(8)
s.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\\r\\nHost: x\\r\\nProxy-Authorization: Basic {login}\\r\\n\\r\\n".encode())
print(s.recv(4096).decode("latin1"))
context = ssl._create_unverified_context()
try: context.wrap_socket(s, server_hostname=sys.argv[2] or None); print("HANDSHAKE")
except OSError as error: print("OS", error)
`;

/** @param {{ mode?: string }} [options] @returns {Promise<number>} how many attacks had an effect */
export async function run({ mode = "default" } = {}) {
  let failures = await runAttacks(mode);
  if (process.getuid?.() === 0) {
    const words = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", process.execPath];
    const done = spawnSync("setpriv", [...words, fileURLToPath(import.meta.url), "as-user", mode], {
      stdio: "inherit",
    });
    failures += done.status ?? 1;
  }
  return failures + (await attackByNames());
}

/** The servers: what is allowed, and what is not. */
async function startServers() {
  /** @type {string[]} */
  const seen = [];
  const listen = async (/** @type {import("node:net").Server} */ server, host = "127.0.0.1") => {
    await /** @type {Promise<void>} */ (new Promise((resolve) => server.listen(0, host, () => resolve())));
    return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  };
  let away = 0;
  const allowed = createServer((request, response) => {
    if (request.headers["proxy-authorization"] !== undefined) seen.push(`LOGIN ${request.headers.host}`);
    seen.push(`${request.method} ${request.url} ${request.headers.host}`);
    if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${away}/` });
    response.end("allowed");
  });
  const forbidden = createServer((_request, response) => response.end(MARK));
  // Counts connections, whatever they say: the other side of a tunnel.
  let raw = 0;
  const bare = createListener((socket) => {
    raw += 1;
    socket.on("error", () => {});
    socket.end(MARK);
  });
  const ports = [await listen(allowed), await listen(forbidden, "0.0.0.0"), await listen(bare)];
  away = ports[1] ?? 0;
  const close = () => {
    for (const server of [allowed, forbidden, bare]) server.close();
    allowed.closeAllConnections();
    forbidden.closeAllConnections();
  };
  return { seen, ports, close, rawCount: () => raw };
}

/** @param {string} mode */
async function runAttacks(mode) {
  const base = mkdtempSync(join(tmpdir(), "burin-egress-"));
  const who = process.getuid?.() === 0 ? "root" : "an ordinary user";
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const { seen, ports, close, rawCount } = await startServers();
  const [good = 0, bad = 0, bare = 0] = ports;
  const open = (/** @type {string} */ name) => {
    const root = join(base, name);
    mkdirSync(root, { recursive: true });
    for (const [file, text] of Object.entries({ "say.py": SAY, "hello.py": HELLO }))
      writeFileSync(join(root, file), text);
    const { http_proxy, https_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY, no_proxy, ...rest } = process.env;
    const toolbox = createToolbox({
      root,
      approvalMode: /** @type {import("@burin/core").ApprovalMode} */ (mode),
      record: mode === "auto",
      environment: { ...rest, HOME: base, BURIN_HOME: join(base, `home-${name}`) },
      settings: {
        permissions: { allow: ["run_shell_command"] },
        sandbox: { mode: "workspace-write", network: [`127.0.0.1:${good}`, `localhost:${good}`] },
      },
    });
    const shell = async (/** @type {string} */ command) =>
      String((await toolbox.call("run_shell_command", { command, timeout: 60_000 })).llmContent);
    return { toolbox, shell };
  };
  const [one, other] = [open("one"), open("other")];
  let count = 0;
  /** @type {string[]} */
  const broken = [];
  const expect = (/** @type {string} */ title, /** @type {boolean} */ isHeld) => {
    count += 1;
    if (!isHeld) broken.push(title);
  };
  const place = `127.0.0.1:${good}`;
  const quoted = (/** @type {readonly string[]} */ pieces) => pieces.map((piece) => `'${piece}'`).join(" ");
  const say = (/** @type {string[]} */ ...pieces) => one.shell(`python3 say.py ${quoted(pieces)}`);
  const curl = (/** @type {string} */ words) => `curl -sS --noproxy '' -m 20 ${words} 2>&1; true`;
  try {
    expect("the allowed host is reached", (await one.shell(curl(`http://${place}/`))).includes("allowed"));
    const plain = await say(`GET http://${place}/ HTTP/1.1NLHost: xNLLOGINNLConnection: closeNLNL`);
    expect("and by a request byte for byte", /^HTTP\/1\.1 200[\s\S]*allowed/m.test(plain));
    const tunnel = await say(`CONNECT ${place} HTTP/1.1NLHost: xNLLOGINNLNL`);
    expect("and by a tunnel", /^HTTP\/1\.1 200/m.test(tunnel));
    const hello = await one.shell(`python3 hello.py localhost:${good} localhost`);
    expect("whose name is that of its server", /^HTTP\/1\.1 200/m.test(hello));
    await attackPlaces();
    await attackMessages();
    await attackNames();
    await attackLogins();
    await attackPast();
  } finally {
    await Promise.all([one.toolbox.close(), other.toolbox.close()]);
    close();
    rmSync(base, { recursive: true, force: true });
  }
  console.log(`egress, as ${who}: ${count} attacks, ${broken.length} with an effect`);
  for (const title of broken) console.log(`  not held: ${title}`);
  return broken.length;

  /** Other spellings of this machine, other ports, names that lead here, and a redirect. */
  async function attackPlaces() {
    const hosts =
      "127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 0 0.0.0.0 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:0:0:1] [64:ff9b::7f00:1] localhost LOCALHOST localhost. a.localhost 127.0.0.1. user@127.0.0.1 %31%32%37.0.0.1 ①②⑦.0.0.1 169.254.169.254 xn--lcalhost-54a";
    for (const host of hosts.split(" ")) {
      for (const [how, line] of [
        ["a request", `GET http://${host}:${bad}/ HTTP/1.1NLHost: ${host}NLLOGINNLConnection: closeNLNL`],
        ["a tunnel", `CONNECT ${host}:${bad} HTTP/1.1NLHost: ${host}NLLOGINNLNL`],
      ]) {
        const text = await say(line ?? "", "GET / HTTP/1.1NLHost: xNLConnection: closeNLNL");
        expect(`${how} to ${host}`, !text.includes(MARK) && !/^HTTP\/1\.1 200/m.test(text));
      }
    }
    const wide = `CONNECT ${place}@127.0.0.1:${bad} HTTP/1.1NLHost: xNLLOGINNLNL`;
    expect("an allowed host as the user of another", !(await say(wide, "GET / HTTP/1.1NLNL")).includes(MARK));
    for (const port of [22, 25, 53, 6379, bare])
      expect(
        `port ${port}`,
        !(await say(`CONNECT 127.0.0.1:${port} HTTP/1.1NLHost: xNLLOGINNLNL`, "x")).includes(" 200 "),
      );
    expect("no connection", rawCount() === 0);
    expect("a redirect", !(await one.shell(curl(`-L http://${place}/away`))).includes(MARK));
  }

  /** Two messages in one, two lengths, two hosts. */
  async function attackMessages() {
    seen.length = 0;
    const head = `POST http://${place}/first HTTP/1.1NLHost: 127.0.0.1:${bad}NLLOGINNL`;
    const inner = `GET /smuggled HTTP/1.1NLHost: evil.testNLNL`;
    await say(`${head}Content-Length: 4NLTransfer-Encoding: chunkedNLNL0NLNL${inner}`);
    await say(`${head}Content-Length: 0NLContent-Length: 60NLNL${inner}`);
    await say(`${head}Transfer-Encoding: xchunkedNLNL0NLNL${inner}`);
    await say(`${head}Transfer-Encoding : chunkedNLContent-Length: 5NLNL0NLNL${inner}`);
    await say(`${head}Transfer-Encoding: chunkedNLTransfer-Encoding: identityNLNL0NLNL${inner}`);
    await say(`${head}X: a\rHost: evil.testNLContent-Length: 0NLNL`.replace("\r", "\\r"));
    await say(`GET http://${place}/a%0d%0aHost:evil.test HTTP/1.1NLHost: xNLLOGINNLNL`);
    await say(`GET http://${place}/ HTTP/1.1NLHost: aNLHost: evil.testNLLOGINNLNL`);
    await say(`GET /smuggled HTTP/1.1NLHost: ${place}NLLOGINNLNL`);
    await say(`GET http://${place}/q HTTP/1.1NL Host: evil.testNLLOGINNLNL`);
    expect(
      "a smuggled request",
      seen.every((line) => !line.includes(" /smuggled ")),
    );
    expect(
      "another host in the head",
      seen.every((line) => line.endsWith(` ${place}`)),
    );
    await one.shell(curl(`http://${place}/`));
    expect("its login is not sent on", seen.length > 0 && seen.every((line) => !line.includes("LOGIN")));
  }

  /** TLS for another name than that of the tunnel, or for none. */
  async function attackNames() {
    const before = rawCount();
    for (const name of ["evil.test", "", "127.0.0.1.evil.test", "LOCALHOST.evil.test"])
      expect(
        `a server name ${JSON.stringify(name)}`,
        !(await one.shell(`python3 hello.py localhost:${good} '${name}'`)).includes("HANDSHAKE"),
      );
    for (const first of ["SSH-2.0-xNL", "GET / HTTP/1.1NLHost: evil.testNLNL", "EHLO xNL"]) {
      seen.length = 0;
      await say(`CONNECT localhost:${good} HTTP/1.1NLHost: xNLLOGINNLNL`, first);
      expect(
        `${first} in a tunnel`,
        seen.every((line) => line.endsWith(`localhost:${good}`)),
      );
    }
    expect("no other connection", rawCount() === before);
  }

  /** The way of a command that has ended, of another session, and of nobody. */
  async function attackLogins() {
    const proxy = /http:\/\/\w+:\w+@127\.0\.0\.1:\d+/.exec(await one.shell("echo $http_proxy"))?.[0] ?? "";
    const asked = (/** @type {string} */ by) => curl(`-x '${by}' http://${place}/`);
    expect("the login of a command that ended", !(await one.shell(asked(proxy))).includes("allowed"));
    expect("the proxy of another session", !(await other.shell(asked(proxy))).includes("allowed"));
    const bareProxy = proxy.replace(/\/\/.*@/, "//");
    for (const login of ["", "run_1:@", "run_1:x@", ":@", "run_99999:x@"])
      expect(
        `the login ${login}`,
        !(await one.shell(asked(bareProxy.replace("//", `//${login}`)))).includes("allowed"),
      );
  }

  /** Around the proxy: straight, over other protocols, by the name service. */
  async function attackPast() {
    const outer = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4")
      .map(({ address }) => address);
    for (const host of ["127.0.0.1", "127.0.0.2", "[::1]", ...outer])
      expect(
        `straight to ${host}`,
        !(await one.shell(curl(`--noproxy '*' http://${host}:${bad}/`))).includes(MARK),
      );
    const look = `python3 -c 'import socket; print("FOUND", socket.getaddrinfo("burin-egress.test", 443))' 2>&1; true`;
    expect("a look-up", !(await one.shell(look)).includes("FOUND ["));
    const send = `python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)
s.sendto(b"x", ("192.0.2.1", 53)); print("SENT")' 2>&1; true`;
    expect("a datagram", !(await one.shell(send)).includes("\nSENT"));
    const raw = `python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("OPENED")' 2>&1; true`;
    expect("a raw socket", !(await one.shell(raw)).includes("OPENED"));
    expect(
      "another interface",
      !/^(?!.*\blo:).*\w+: \d/m.test((await one.shell("cat /proc/net/dev")).split("Output:")[1] ?? ""),
    );
  }
}

if (process.argv[2] === "as-user") process.exit(await runAttacks(process.argv[3] ?? "default"));
