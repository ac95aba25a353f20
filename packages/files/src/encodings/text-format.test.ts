import { describe, expect, it } from "vitest";
import { decodeBytes, encodeText } from "./encodings.ts";
import { detectFormat, detectHeadFormat } from "./text-format.ts";

const controls = (count: number) => Buffer.alloc(count, 1);
const letters = (count: number) => Buffer.alloc(count, "a");

describe("what is text", () => {
  it("P17 is a small file with control characters, as long as none is NUL", () => {
    const text = Buffer.from("before|\n<\u0001\u0001\u0001>\n|after\n");
    expect(detectFormat(text)).toEqual({ encoding: "utf-8", markBytes: 0 });
    expect(
      detectFormat(Buffer.from("before|\n<\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0010\u0011>\n")),
    ).not.toBeNull();
    expect(detectFormat(Buffer.from("\u0001\u0002\u007f"))).toBeNull();
    expect(detectFormat(Buffer.from("before|\n<\u0001\0\u0001>\n|after\n"))).toBeNull();
  });

  it("P17 has at most 30 % of control characters in its first 4 KB", () => {
    expect(detectHeadFormat(Buffer.concat([controls(1200), letters(2800)]))).toBe("narrow");
    expect(detectHeadFormat(Buffer.concat([controls(1300), letters(2700)]))).toBeNull();
    expect(detectHeadFormat(Buffer.concat([letters(4096), controls(4096)]))).toBe("narrow");
  });
});

describe("the encoding of a text", () => {
  it.each([
    [
      "windows-1252",
      "la función está aquí; el tamaño del año no podrá leerse según qué índice tenía; así quedó",
    ],
    ["windows-1252", "das Verzeichnis für größere Dateien müsste geprüft und gelöscht werden können"],
    ["windows-1252", "la clé a été générée après l'opération précédente, où le fichier était protégé"],
    [
      "windows-1250",
      "a fájl törlése közben hiba történt, ezért a művelet ismétlődő könyvtárból újraindítható",
    ],
    ["windows-1250", "soubor nelze otevřít, protože příkaz pro čtení složky žádá větší oprávnění uživatele"],
    [
      "windows-1250",
      "nie można otworzyć pliku, ponieważ ścieżka zawiera błędne wartości i żądane są uprawnienia",
    ],
    [
      "windows-1252",
      "se il file è già aperto, la finestra non si può chiudere: così perché non c'è più il menù, e lì sarà vuota",
    ],
    ["windows-1252", "lift £825, which is not bad for a bet of £2 and a stake of £3.50"],
    ["windows-1252", "temperature range: -40 °C ± 2 °C"],
    ["windows-1252", "½ cup, ¼ tsp, ¾ oz"],
    ["windows-1252", "skráin fannst ekki, það þarf að ræsa aftur og athuga hvort notandinn hafi heimild"],
    [
      "windows-1250",
      "datoteke ni mogoče odpreti, ker uporabnik nima pravic; poskusite znova čez čas, še enkrat",
    ],
    [
      "windows-1250",
      "fişierul nu a putut fi deschis, pentru că utilizatorul nu are permisiuni; încearcă din nou",
    ],
    [
      "windows-1257",
      "nepavyko atidaryti failo, nes vartotojas neturi teisių; bandykite dar kartą vėliau, ačiū",
    ],
    ["iso-8859-5", "не удалось открыть файл, потому что нет прав доступа"],
    ["euc-kr", "① 파일 열기 ② 닫기 ③ 저장"],
    ["shift_jis", "① ファイルを開く ② 閉じる ③ 保存 ④ 印刷 (㈱見本)"],
    ["euc-jp", "① ファイルを開く ② 閉じる ③ 保存 ④ 印刷 (㈱見本)"],
  ])("P3 reads a text in %s, however long: %s", (encoding, sentence) => {
    for (const times of [1, 3, 30]) {
      const text = `  /* ${sentence} */\n  step(${times});\n`.repeat(times);
      const bytes = encodeText(text, encoding) as Buffer;
      expect(decodeBytes(bytes, detectFormat(bytes)?.encoding ?? "")).toBe(text);
    }
  });

  it("P3 is that of all words of a table, however often a column says one of them", () => {
    const rows = Array.from({ length: 2000 }, (_, n) => `${n};Île-de-France;${n * 1.5}\n`);
    const bytes = encodeText(`numéro;région;montant\n${rows.join("")}`, "windows-1252") as Buffer;
    expect(detectFormat(bytes)?.encoding).toBe("windows-1252");
  });
});
