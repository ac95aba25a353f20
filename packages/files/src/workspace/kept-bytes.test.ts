import { describe, expect, it } from "vitest";
import { decodeBytes } from "../encodings/encodings.ts";
import { detectFormat } from "../encodings/text-format.ts";
import { encodeKeepingBytes } from "./kept-bytes.ts";

/** Made by another encoder than ours: name, text, bytes. */
const SAMPLES: readonly (readonly [name: string, text: string, hex: string])[] = [
  [
    "windows-1252",
    "// déjà vu – “quoted” €\nint main() {\n  return 0;\n}\n// Größe: 5 µm\n",
    "2f2f2064e96ae02076752096209371756f7465649420800a696e74206d61696e2829207b0a202072657475726e20303b0a7d0a2f2f204772f6df653a203520b56d0a",
  ],
  [
    "windows-1251",
    "// это тестовый файл\nint main() {\n  return 0;\n}\nимя = значение\n",
    "2f2f20fdf2ee20f2e5f1f2eee2fbe920f4e0e9eb0a696e74206d61696e2829207b0a202072657475726e20303b0a7d0ae8ecff203d20e7ede0f7e5ede8e50a",
  ],
  [
    "windows-1250",
    "// zmienna określa wartość\nint main() {\n  return 0;\n}\nPříliš žluťoučký kůň\n",
    "2f2f207a6d69656e6e61206f6b72659c6c6120776172746f9ce60a696e74206d61696e2829207b0a202072657475726e20303b0a7d0a50f8ed6c699a209e6c759d6f75e86bfd206bf9f20a",
  ],
  [
    "koi8-r",
    "// это тестовый файл\nint main() {\n  return 0;\n}\nимя = значение\n",
    "2f2f20dcd4cf20d4c5d3d4cfd7d9ca20c6c1cacc0a696e74206d61696e2829207b0a202072657475726e20303b0a7d0ac9cdd1203d20dacec1dec5cec9c50a",
  ],
  [
    "windows-1253",
    "// αυτό είναι ένα αρχείο\nint main() {\n  return 0;\n}\nόνομα = τιμή\n",
    "2f2f20e1f5f4fc20e5dfede1e920ddede120e1f1f7e5dfef0a696e74206d61696e2829207b0a202072657475726e20303b0a7d0afcedefece1203d20f4e9ecde0a",
  ],
  [
    "gbk",
    "// 这是一个测试文件\nint main() {\n  return 0;\n}\n名称 = 配置\n",
    "2f2f20d5e2cac7d2bbb8f6b2e2cad4cec4bcfe0a696e74206d61696e2829207b0a202072657475726e20303b0a7d0ac3fbb3c6203d20c5e4d6c30a",
  ],
  [
    "gb18030",
    "// 这是一个测试文件 😀\nint main() {\n  return 0;\n}\n名称 = 配置\n",
    "2f2f20d5e2cac7d2bbb8f6b2e2cad4cec4bcfe209439fc360a696e74206d61696e2829207b0a202072657475726e20303b0a7d0ac3fbb3c6203d20c5e4d6c30a",
  ],
  [
    "shift_jis",
    "// これはテストファイルです\nint main() {\n  return 0;\n}\n名前 = 設定\n",
    "2f2f2082b182ea82cd836583588367837483408343838b82c582b70a696e74206d61696e2829207b0a202072657475726e20303b0a7d0a96bc914f203d2090dd92e80a",
  ],
  [
    "euc-jp",
    "// これはテストファイルです\nint main() {\n  return 0;\n}\n名前 = 設定\n",
    "2f2f20a4b3a4eca4cfa5c6a5b9a5c8a5d5a5a1a5a4a5eba4c7a4b90a696e74206d61696e2829207b0a202072657475726e20303b0a7d0accbec1b0203d20c0dfc4ea0a",
  ],
  [
    "euc-kr",
    "// 이것은 테스트 파일입니다\nint main() {\n  return 0;\n}\n이름 = 설정\n",
    "2f2f20c0ccb0cdc0ba20c5d7bdbac6ae20c6c4c0cfc0d4b4cfb4d90a696e74206d61696e2829207b0a202072657475726e20303b0a7d0ac0ccb8a7203d20bcb3c1a40a",
  ],
  [
    "big5",
    "// 這是一個測試檔案\nint main() {\n  return 0;\n}\n名稱 = 設定\n",
    "2f2f20b36fac4fa440add3b4fab8d5c0c9aed70a696e74206d61696e2829207b0a202072657475726e20303b0a7d0aa657bad9203d20b35da9770a",
  ],
  [
    "utf-8",
    "// naïve 中文 😀\nint main() {\n  return 0;\n}\nx = é\n",
    "2f2f206e61c3af766520e4b8ade6968720f09f98800a696e74206d61696e2829207b0a202072657475726e20303b0a7d0a78203d20c3a90a",
  ],
  [
    "utf-8 with mark",
    "// naïve 中文 😀\nint main() {\n  return 0;\n}\nx = é\n",
    "efbbbf2f2f206e61c3af766520e4b8ade6968720f09f98800a696e74206d61696e2829207b0a202072657475726e20303b0a7d0a78203d20c3a90a",
  ],
  [
    "utf-16le",
    "// naïve 中文 😀\nint main() {\n  return 0;\n}\nx = é\n",
    "fffe2f002f0020006e006100ef007600650020002d4e876520003dd800de0a0069006e00740020006d00610069006e002800290020007b000a0020002000720065007400750072006e00200030003b000a007d000a00780020003d002000e9000a00",
  ],
  [
    "utf-16be",
    "// naïve 中文 😀\nint main() {\n  return 0;\n}\nx = é\n",
    "feff002f002f0020006e006100ef0076006500204e2d65870020d83dde00000a0069006e00740020006d00610069006e002800290020007b000a0020002000720065007400750072006e00200030003b000a007d000a00780020003d002000e9000a",
  ],
  [
    "utf-32le",
    "// naïve 中文 😀\nint main() {\n  return 0;\n}\nx = é\n",
    "fffe00002f0000002f000000200000006e00000061000000ef0000007600000065000000200000002d4e0000876500002000000000f601000a000000690000006e00000074000000200000006d00000061000000690000006e0000002800000029000000200000007b0000000a000000200000002000000072000000650000007400000075000000720000006e00000020000000300000003b0000000a0000007d0000000a00000078000000200000003d00000020000000e90000000a000000",
  ],
  [
    "utf-32be",
    "// naïve 中文 😀\nint main() {\n  return 0;\n}\nx = é\n",
    "0000feff0000002f0000002f000000200000006e00000061000000ef00000076000000650000002000004e2d00006587000000200001f6000000000a000000690000006e00000074000000200000006d00000061000000690000006e0000002800000029000000200000007b0000000a000000200000002000000072000000650000007400000075000000720000006e00000020000000300000003b0000000a0000007d0000000a00000078000000200000003d00000020000000e90000000a",
  ],
];

function textOf(bytes: Buffer): string | null {
  const format = detectFormat(bytes);
  return format && decodeBytes(bytes.subarray(format.markBytes), format.encoding);
}

function rewritten(text: string, old: Buffer): Buffer {
  const bytes = encodeKeepingBytes(text, old);
  if (!Buffer.isBuffer(bytes)) throw new Error(`cannot hold ${bytes.character}`);
  return bytes;
}

describe.each(SAMPLES)("a file in %s", (name, text, hex) => {
  const bytes = Buffer.from(hex, "hex");

  it("P3 is read right", () => {
    expect(textOf(bytes)).toBe(text);
    expect(detectFormat(bytes)?.encoding).toBe(name.split(" ")[0]);
  });

  it("P3 keeps every other byte when one ASCII line is rewritten", () => {
    const changed = rewritten(text.replace("  return 0;", "  return 42;"), bytes);
    expect(textOf(changed)).toBe(text.replace("return 0", "return 42"));
    const wide = name.startsWith("utf-16") ? 2 : name.startsWith("utf-32") ? 4 : 1;
    expect(changed.length).toBe(bytes.length + wide);
    let head = 0;
    while (changed[head] === bytes[head]) head += 1;
    const tail = bytes.length - head - wide;
    expect(changed.subarray(changed.length - tail).equals(bytes.subarray(bytes.length - tail))).toBe(true);
  });

  it("P32 keeps CRLF and its mark when given LF", () => {
    const format = detectFormat(bytes);
    const windows = rewritten(text.replaceAll("\n", "\r\n"), bytes);
    const changed = rewritten(text.replace("return 0", "return 1"), windows);
    expect(textOf(changed)).toBe(text.replace("return 0", "return 1").replaceAll("\n", "\r\n"));
    expect(detectFormat(changed)).toEqual(format);
  });
});

describe("bytes of a rewritten file", () => {
  it("P32 keep the line ends of untouched lines in a mixed file", () => {
    const old = Buffer.from("a\r\nb\nc\r\nd\n");
    expect(rewritten("a\nb\nX\nd\n", old).toString()).toBe("a\r\nb\nX\r\nd\n");
    expect(rewritten("new\na\nb\nc\nd\n", old).toString()).toBe("new\r\na\r\nb\nc\r\nd\n");
    expect(rewritten("b\nd\n", old).toString()).toBe("b\nd\n");
    expect(rewritten("a\nb\nb2\nc\nd\ne\n", old).toString()).toBe("a\r\nb\nb2\r\nc\r\nd\ne\n");
  });

  it("P32 keep the state of the final newline with the last line, unless it is all that changed", () => {
    expect(rewritten("x\nb\n", Buffer.from("a\nb")).toString()).toBe("x\nb");
    expect(rewritten("x\nb", Buffer.from("a\nb\n")).toString()).toBe("x\nb\n");
    expect(rewritten("a\nb\n", Buffer.from("a\nb")).toString()).toBe("a\nb\n");
    expect(rewritten("a\nb", Buffer.from("a\nb\n")).toString()).toBe("a\nb");
    expect(rewritten("changed\n", Buffer.from("original")).toString()).toBe("changed\n");
    expect(rewritten("changed", Buffer.from("original\n")).toString()).toBe("changed");
    expect(rewritten("x\nb", Buffer.from("a\r\nb\r\n")).toString()).toBe("x\r\nb\r\n");
  });

  it("P32 keep a mark once, also when the new text brings one", () => {
    const old = Buffer.from("\ufeffa\n");
    expect(rewritten("b\n", old).toString("hex")).toBe("efbbbf620a");
    expect(rewritten("\ufeffb\n", old).toString("hex")).toBe("efbbbf620a");
  });

  it("P17 are the given ones, whatever they hold", () => {
    const text =
      "a\\nb $' $& $1 \u2018\u2019\u201c\u201d \u0001\u001b\u007f \u{1f600} e\u0301 \u00e9 \u2028\n\n\t \n";
    expect(rewritten(text, Buffer.from("old\n")).equals(Buffer.from(text))).toBe(true);
    expect((encodeKeepingBytes(text, null) as Buffer).equals(Buffer.from(text))).toBe(true);
  });

  it("P3 keep bytes that cannot be read, in untouched lines and beside a change", () => {
    const old = Buffer.from("caf\u00e9 is \u00fcber\nb\u00ff\n", "utf8");
    const broken = Buffer.concat([old, Buffer.from("bad \xff\xfe end\nlast\n", "latin1")]);
    const text = textOf(broken) ?? "";
    expect(text).toContain("bad \ufffd\ufffd end");
    const changed = rewritten(text.replace("last", "LAST"), broken);
    expect(changed.equals(Buffer.concat([old, Buffer.from("bad \xff\xfe end\nLAST\n", "latin1")]))).toBe(
      true,
    );
    const beside = rewritten(text.replace("bad", "good"), broken);
    expect(beside.equals(Buffer.concat([old, Buffer.from("good \xff\xfe end\nlast\n", "latin1")]))).toBe(
      true,
    );
    expect(encodeKeepingBytes(`${text}more \ufffd\n`, broken)).toMatchObject({ character: "\ufffd" });
  });

  it.each([
    ["gb18030", "933935"],
    ["euc-jp", "8fbc3839"],
  ])("P3 give way to a new line, also where a decoder of %s throws at %s", (encoding, hex) => {
    const start = Buffer.from("first\n");
    const broken = Buffer.concat([start, Buffer.from(hex, "hex"), Buffer.from("\n")]);
    const format = { encoding, markBytes: 0 };
    expect(encodeKeepingBytes("first\nnew\n", broken, format)).toEqual(Buffer.from("first\nnew\n"));
    const beside = `${decodeBytes(broken, encoding).trimEnd()} more\n`;
    expect(encodeKeepingBytes(beside, broken, format)).toMatchObject({ character: "\ufffd" });
  });

  it("P3 refuse what the encoding cannot hold, and say where", () => {
    for (const [encoding, , hex] of SAMPLES.filter(
      ([name]) => !name.startsWith("utf") && name !== "gb18030",
    )) {
      const old = Buffer.from(hex, "hex");
      const text = textOf(old) ?? "";
      const wanted = text.replace("return 0", "return \u{1f600}");
      expect([encoding, encodeKeepingBytes(wanted, old)]).toEqual([
        encoding,
        { character: "\u{1f600}", position: wanted.indexOf("\u{1f600}") },
      ]);
    }
    expect(encodeKeepingBytes("a\ud800b", null)).toEqual({ character: "\ud800", position: 1 });
  });

  it("P3 write new characters of a legacy encoding as others do", () => {
    const gbk = Buffer.from(SAMPLES.find(([name]) => name === "gbk")?.[2] ?? "", "hex");
    const text = textOf(gbk) ?? "";
    const changed = rewritten(`${text}\u8fd4\u56de\n`, gbk);
    expect(changed.subarray(gbk.length).toString("hex")).toBe("b7b5bbd80a");
  });
});
