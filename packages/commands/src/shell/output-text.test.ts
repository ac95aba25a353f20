import { describe, expect, it } from "vitest";
import { renderTerminalText } from "./output-text.ts";

const ESC = "\u001b";

describe("terminalText", () => {
  it.each([
    ["plain text\twith tab\n", "plain text\twith tab\n"],
    [`${ESC}[1;31mred${ESC}[0m`, "red"],
    [`${ESC}[38;2;1;2;3mcolour${ESC}[K${ESC}[2J`, "colour"],
    [`${ESC}]0;title\u0007text`, "text"],
    [`${ESC}]8;;http://a.example${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
    [`${ESC}]52;c;aGk=\u0007${ESC}Pq#0${ESC}\\after`, "after"],
    [`${ESC}(B${ESC}7${ESC}=x`, "x"],
    [`never ended ${ESC}]0;title`, "never ended "],
    ["\u009b31mone byte form\u009b0m", "one byte form"],
    ["10%\r50%\r100%\ndone", "100%\ndone"],
    ["abcdef\rXY", "XYcdef"],
    [`Downloading 100%\r${ESC}[KDone\n`, "Done\n"],
    [`Downloading 100%\r${ESC}[2K`, ""],
    [`${ESC}[2K${ESC}[1G| build${ESC}[2K${ESC}[1G/ build${ESC}[2K${ESC}[1Gbuilt in 3 s\n`, "built in 3 s\n"],
    [`${ESC}[1G${ESC}[0K* one more line${ESC}[1G${ESC}[0Kno\nnext`, "no\nnext"],
    ["remote: 50%\u001b[K\rremote: 100%, done.\u001b[K\n", "remote: 100%, done.\n"],
    [`abcdef\rXY${ESC}[KZ`, "XYZ"],
    ["windows\r\nlines\r\r\n", "windows\nlines\n"],
    ["ab\b\bxy", "xy"],
    ["line\n\b\bx", "line\nx"],
    ["bell\u0007 and \u0001 others\u007f", "bell and  others"],
    ["漢字 🙂 é", "漢字 🙂 é"],
  ])("%j is %j", (text, shown) => {
    expect(renderTerminalText(text)).toBe(shown);
  });
});
