import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SECRET_VALUES } from "./child-environment.ts";
import { holdsSecret } from "./secret-scan.ts";

const holds = (text: string) => holdsSecret(Buffer.from(text));

describe("the look for secrets in bytes", () => {
  it.each(SECRET_VALUES)("P19 finds what %s finds, wherever it stands", (pattern) => {
    const around = fc.tuple(
      fc.stringMatching(/^[ \n"'=(a-z]{0,40}[ \n"'=(]$/),
      fc.constantFrom("", " ", '"', "\n"),
    );
    fc.assert(
      fc.property(
        fc.stringMatching(new RegExp(pattern.source.replaceAll("\\b", ""))),
        around,
        (secret, [before, after]) => {
          const text = before + secret + after;
          expect(holds(text)).toBe(SECRET_VALUES.some((one) => one.test(text)));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([
    ["a password", "see postgres://me:geh3im-9x@db.example.org/x\n", true],
    ["a token for a user", "https://0123456789abcdef0123@example.org\n", true],
    ["a password with an at sign", "ftp://me:a@b9x7@example.org", true],
    ["a key", `${"a\n".repeat(99)}-----BEGIN RSA PRIVATE KEY-----\nMIIE\n`, true],
    ["a token behind bytes that are no text", "\u00ff\u00e9\u0000sk-ant-0123456789012345678901234", true],
    ["an address of mail", "mail me@example.org about https://example.org/@me\n", false],
    ["an address with a port", "http://localhost:8080/a@b\n", false],
    ["long names", "packages/skeleton/ask-about-something-else-entirely.test.ts\n".repeat(50), false],
    ["a hash", "da39a3ee5e6b4b0d3255bfef95601890afd80709\n", false],
    ["nothing", "", false],
  ])("P19 P7 says of %s whether it is secret", (_, text, isSecret) => {
    expect(holds(text)).toBe(isSecret);
  });

  it("P19 finds a token at each place of a text", () => {
    for (let at = 0; at < 40; at += 1)
      expect(holds(`${"x ".repeat(20).slice(0, at)} AKIA0123456789ABCDEF ${"y".repeat(at)}`)).toBe(true);
  });
});
