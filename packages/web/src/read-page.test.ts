import { encodeText } from "@burin/files/encodings/encodings";
import { describe, expect, it } from "vitest";
import { decodeText } from "./read-page.ts";

describe("P50 the charset of a page", () => {
  const german = "Grüße aus Köln, schöne Maße";
  const russian = "Привет из Москвы, сегодня хорошая погода и светит солнце";
  const japanese = "日本語のページです。文字コードを確かめます。";

  it.each<[what: string, text: string, stored: string, contentType: string, mark?: number[]]>([
    ["as the server says", german, "iso-8859-15", "text/html; charset=ISO-8859-15"],
    ["as the server says, in quotes", japanese, "shift_jis", 'text/html; charset="Shift_JIS"'],
    ["as the page says", `<meta charset="euc-jp"><p>${japanese}`, "euc-jp", "text/html"],
    [
      "as the page says, the long way",
      `<meta http-equiv="content-type" content="text/html; charset=gbk">${german.replace(/[^ -~]/g, "")}中文网页`,
      "gbk",
      "",
    ],
    [
      "as XML says",
      `<?xml version="1.0" encoding="windows-1251"?><a>${russian}</a>`,
      "windows-1251",
      "text/xml",
    ],
    ["by its mark, whatever is said", german, "utf-8", "text/html; charset=iso-8859-1", [0xef, 0xbb, 0xbf]],
    ["by its mark, UTF-16", german, "utf-16le", "text/html; charset=utf-8", [0xff, 0xfe]],
    ["UTF-8 that the server calls Latin-1", german, "utf-8", "text/html; charset=iso-8859-1"],
    [
      "Latin-1 that the server calls UTF-8",
      `${german}. ${"Es war ein schöner Tag für die Größeren. ".repeat(3)}`,
      "windows-1252",
      "text/html; charset=utf-8",
    ],
    [
      "Hebrew that the server calls UTF-8, and the page says",
      `<meta charset="windows-1255">שלום עולם`,
      "windows-1255",
      "text/html; charset=utf-8",
    ],
    [
      "UTF-8 that the server says, and the page another",
      `<meta charset="windows-1251">${russian}`,
      "utf-8",
      "text/html; charset=utf-8",
    ],
    ["Russian that the server calls Latin-1", russian, "windows-1251", "text/html; charset=iso-8859-1"],
    [
      "Latin-1 by habit, but the page says",
      `<meta charset="windows-1250">Zażółć`,
      "windows-1250",
      "text/html; charset=iso-8859-1",
    ],
    ["a charset that does not exist", german, "utf-8", "text/html; charset=utf-99"],
    ["by statistics", russian, "windows-1251", "text/plain"],
    ["UTF-16 that is said and is not so", german, "utf-8", "text/html; charset=utf-16"],
  ])("%s", (_what, ...[text, stored, contentType, mark = []]) => {
    const bytes = encodeText(text, stored);
    if (!Buffer.isBuffer(bytes)) throw new Error(`${stored} cannot hold ${bytes.character}`);
    const whole = Buffer.concat([Buffer.from(mark), bytes]);
    expect(decodeText(whole, contentType)).toBe(text);
  });

  it("bytes that are no text have none", () => {
    const bytes = Buffer.from([0, 1, 2, 3, 0, 255, 254, 0, 9, 0, 0, 1, 7, 0]);
    expect(decodeText(bytes, "text/html; charset=utf-8")).toBeNull();
  });
});
