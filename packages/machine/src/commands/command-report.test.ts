import { describe, expect, it } from "vitest";
import { sandboxRefusal } from "./command-report.ts";

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
    expect(sandboxRefusal(text, inside)).toContain(`"sandbox_exception": ${exception}`);
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
    expect(sandboxRefusal(text, refusalCase)).toBeNull();
  });

  it("P53 names what can be written", () => {
    expect(sandboxRefusal("EROFS", inside)).toContain("only /project and /tmp");
    expect(sandboxRefusal("EROFS", { ...inside, mode: "read-only" })).toContain("it is read-only");
  });
});
