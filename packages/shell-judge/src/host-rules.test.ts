import { describe, expect, it } from "vitest";
import {
  findHostPatternFault,
  findHostPatternWarning,
  formatHostEndpoint,
  type HostRules,
  judgeHost,
  listExplicitEndpoints,
  parseHostEndpoint,
} from "./host-rules.ts";

function verdict(place: string, allow: readonly string[], deny: HostRules["deny"] = []): string {
  const read = parseHostEndpoint(place);
  return read === null ? "unreadable" : judgeHost(read, { allow, deny });
}

describe("P37 rules for hosts", () => {
  it.each([
    ["packages.example.org", "packages.example.org:443", "allow"],
    ["packages.example.org", "packages.example.org:80", "allow"],
    ["Packages.Example.org.", "packages.example.ORG.:443", "allow"],
    ["packages.example.org", "evil.packages.example.org:443", "ask"],
    ["packages.example.org", "xpackages.example.org:443", "ask"],
    ["packages.example.org", "packages.example.org.evil.test:443", "ask"],
    ["packages.example.org", "packages.example.org:22", "ask"],
    ["*.github.com", "api.github.com:443", "allow"],
    ["*.github.com", "a.b.github.com:443", "allow"],
    ["*.github.com", "github.com:443", "ask"],
    ["*.github.com", "evilgithub.com:443", "ask"],
    ["*.github.com", "github.com.evil.test:443", "ask"],
    ["bücher.example", "xn--bcher-kva.example:443", "allow"],
    ["*", "anything.test:443", "allow"],
    ["*", "anything.test:25", "ask"],
    ["*", "10.0.0.1:443", "ask"],
    ["10.0.0.1:8081", "10.0.0.1:8081", "allow"],
    ["10.0.0.1:8081", "0xa.1:8081", "allow"],
    ["10.0.0.1:8081", "10.0.0.1:443", "ask"],
    ["[::1]:4873", "[0:0:0:0:0:0:0:1]:4873", "allow"],
    ["localhost:4873", "localhost:4873", "allow"],
    ["10.0.0.1", "10.0.0.1:443", "ask"],
  ])("P37 %s for %s: %s", (pattern, place, expected) => {
    expect(verdict(place, [pattern])).toBe(expected);
  });

  it("P37 a denied host is denied, whatever allows it and on every port", () => {
    expect(verdict("pastes.example.org:443", ["*.example.org"], ["pastes.example.org"])).toBe("deny");
    expect(verdict("pastes.example.org:8443", ["*"], ["pastes.example.org"])).toBe("deny");
    expect(verdict("a.example.org:443", ["a.example.org"], ["*.example.org"])).toBe("deny");
    expect(verdict("a.example.org:443", ["a.example.org"], ["*"])).toBe("deny");
    expect(verdict("example.org:443", ["example.org"], ["*.example.org"])).toBe("allow");
  });

  it.each([
    ["a.test:443", "a.test:443"],
    ["A.TEST.:443", "a.test:443"],
    ["127.1:80", "127.0.0.1:80"],
    ["[::FFFF:7f00:1]:443", "[::ffff:7f00:1]:443"],
    ["a_b.test:443", "a_b.test:443"],
  ])("P37 %s is read as %s", (text, expected) => {
    const place = parseHostEndpoint(text);
    expect(place && formatHostEndpoint(place)).toBe(expected);
  });

  it.each([
    "a.test",
    "a.test:0",
    "a.test:99999",
    "u@a.test:443",
    "a.test:443/",
    "a%2etest:443",
    ".test:443",
    "a..b:443",
    "",
  ])("P37 %j is not a place", (text) => {
    expect(parseHostEndpoint(text)).toBeNull();
  });

  it("P37 a port names a place of this machine or of a private network", () => {
    expect(listExplicitEndpoints(["a.test", "*.b.test:8080", "Nexus.corp:8081", "[::1]:80"])).toEqual([
      "nexus.corp:8081",
      "[::1]:80",
    ]);
  });

  it.each([
    "http://a.test",
    "a.test/b",
    "*.*.test",
    "a.*.test",
    "*a.test",
    "10.0.0.1",
    "",
    "*.10.0.0.1",
    "a b",
  ])("P37 %j is not a pattern", (pattern) => {
    expect(findHostPatternFault(pattern)).toContain("is not a host");
  });

  it.each(["a.test", "*.a.test", "*", "a.test:8080", "10.0.0.1:80", "localhost:3000"])(
    "P37 %j is a pattern",
    (pattern) => {
      expect(findHostPatternFault(pattern)).toBeNull();
    },
  );

  it.each([
    ["*", "every host"],
    ["*.com", "anyone can register below com"],
    ["*.co.uk", "anyone can register below co.uk"],
    ["*.github.io", "anyone can register below github.io"],
  ])("P37 %j is warned about", (pattern, words) => {
    expect(findHostPatternWarning(pattern)).toContain(words);
  });

  it.each(["*.github.com", "github.io", "*.example.co.uk", "co.uk"])(
    "P37 %j is not warned about",
    (pattern) => {
      expect(findHostPatternWarning(pattern)).toBeNull();
    },
  );
});
