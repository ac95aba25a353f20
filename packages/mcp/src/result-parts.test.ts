import { describe, expect, it } from "vitest";
import { readCallResult } from "./result-parts.ts";

const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const base64 = (text: string) => Buffer.from(text).toString("base64");

function partOf(mimeType: string, data: string) {
  return readCallResult({ content: [{ type: "image", mimeType, data }] }).parts[0];
}

describe("an image of a server", () => {
  it("P12 goes to the model as what it is", () => {
    expect(partOf("image/png", GIF)).toEqual({ inlineData: { mimeType: "image/gif", data: GIF } });
    expect(partOf("image/svg+xml", base64("<svg/>"))).toBe("<svg/>");
    const unended = base64(`<!DOCTYPE${"-".repeat(500_000)}`);
    expect(partOf("image/svg+xml", unended)).toContain("damaged");
  });

  it.each([
    ["image/png", base64("<html>not found</html>")],
    ["image/gif", GIF.slice(0, 40)],
    ["application/pdf", base64("%PDF-1.4")],
  ])("P12 that is no whole %s is said and not sent: a service would refuse the whole talk", (type, data) => {
    expect(partOf(type, data)).toMatch(new RegExp(`^\\[${type}: damaged, `));
  });
});
