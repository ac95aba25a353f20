import { describe, expect, it } from "vitest";
import { explainSandboxRefusal, REFUSALS } from "./sandbox-refusal.ts";

const inside = { hasFailed: true, mode: "workspace-write", hasNetwork: false, roots: ["/project"] } as const;

describe("sandboxRefusal", () => {
  it.each([
    ["touch: cannot touch '/etc/x': Read-only file system", '"unlimited"'],
    ["Error: EROFS: read-only file system, open '/etc/x'", '"unlimited"'],
    ["error: could not write config file .git/config: Device or resource busy", '"unlimited"'],
    ["curl: (6) Could not resolve host: example.com", '"network"'],
    ["connect: Network is unreachable", '"network"'],
    ["npm error code EAI_AGAIN", '"network"'],
    ["getaddrinfo ENOTFOUND example.com", '"network"'],
    ["Error: listen EPERM: operation not permitted /tmp/x.sock", '"network"'],
    [
      "line 232, in __init__\n  _socket.socket.__init__(self)\nPermissionError: [Errno 1] Operation not permitted",
      '"network"',
    ],
    ["chown: changing ownership of 'x': Operation not permitted", '"unlimited"'],
  ])("P53 %s: says so, with the exception to ask for", (text, exception) => {
    expect(explainSandboxRefusal(text, inside)).toContain(`"sandbox_exception": ${exception}`);
  });

  it.each([
    ["any other failure", "make: *** [all] Error 2", inside],
    ["the network where it is granted", "Could not resolve host: nope", { ...inside, hasNetwork: true }],
    [
      "words on the network in a command that worked",
      "Could not resolve host",
      { ...inside, hasFailed: false },
    ],
  ])("P53 says nothing for %s", (_title, text, refusalCase) => {
    expect(explainSandboxRefusal(text, refusalCase)).toBeNull();
  });

  it("P53 names what can be written", () => {
    expect(explainSandboxRefusal("EROFS", inside)).toContain("only /project and /tmp");
    expect(explainSandboxRefusal("EROFS", { ...inside, mode: "read-only" })).toContain("it is read-only");
  });

  it.each(REFUSALS.map(([kind, , example]) => [example, kind] as const))(
    "P53 %s is a refused %s",
    (example, kind) => {
      const words = {
        cache: "a write to a cache",
        write: "refused a write: ",
        network: "has no network",
        socket: "allows no Unix sockets",
        right: "no administrative rights",
      };
      expect(explainSandboxRefusal(`some output\n${example}\nmore\n`, inside)).toContain(words[kind]);
    },
  );

  it("P53 where hosts are reached by name, the line names the host, and for Unix sockets what really allows them", () => {
    const byName = { ...inside, reachesByName: true };
    expect(explainSandboxRefusal("curl: (6) Could not resolve host: example.com", byName)).toContain(
      '"sandbox": { "network": ["example.com"] }',
    );
    const socket = explainSandboxRefusal("Error: listen EPERM: operation not permitted /tmp/x.sock", byName);
    expect(socket).toContain('"sandbox_exception": "unlimited"');
    expect(socket).toContain('"sandbox": { "network": true }');
  });
});
