/** How text in an encoding of one byte a character usually looks. */
export interface Script {
  readonly encoding: string;
  /** Small letters beyond ASCII, the most common first; capitals follow from them. */
  readonly letters: string;
  /** Letters beyond ASCII stand among ASCII letters (French), or make whole words (Greek). */
  readonly isLatin: boolean;
  /** How much more or less often files are found in it, as a logarithm. */
  readonly prior: number;
}

/** Signs that all of them may hold. */
export const COMMON_SIGNS = "’‘“”–—…€«»„‚•°§©®·¿¡½²³ºª×µ№\u00a0";

const RUSSIAN = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё";
const CZECH_POLISH_HUNGARIAN = "íáéěščřýžůóąęłćśżźńőúöűüťďňăâîţş";

export const SCRIPTS: readonly Script[] = [
  { encoding: "windows-1252", letters: "éàèäüöçßñóíáêôîûùâúãõåøæëï", isLatin: true, prior: 2 },
  { encoding: "windows-1251", letters: `${RUSSIAN}іїєґ`, isLatin: false, prior: 1 },
  { encoding: "koi8-r", letters: RUSSIAN, isLatin: false, prior: -3 },
  { encoding: "ibm866", letters: RUSSIAN, isLatin: false, prior: -4 },
  { encoding: "windows-1250", letters: CZECH_POLISH_HUNGARIAN, isLatin: true, prior: 0 },
  { encoding: "iso-8859-2", letters: CZECH_POLISH_HUNGARIAN, isLatin: true, prior: -2 },
  { encoding: "windows-1253", letters: "αοιετνσηρκπμλυςγδθωχφβξζψόίάέήύώϊ", isLatin: false, prior: -1 },
  { encoding: "windows-1254", letters: "ışğüöçâîİ", isLatin: true, prior: -1 },
  { encoding: "windows-1255", letters: "יוהלאמרבתשנםכדקחעפטסזגןצךףץ", isLatin: false, prior: -1 },
  { encoding: "windows-1256", letters: "اليمنوترةبعدسفهكقحجشصطخىذزضغثئءؤأإآظ،؟؛", isLatin: false, prior: -1 },
  { encoding: "windows-1257", letters: "āīēšūžņļģķčąęėįųõäöü", isLatin: true, prior: -2 },
  { encoding: "windows-874", letters: "านรอกเงมยลวดทสตะปบคหแจพชขใไโผศัิีื่้็์ุูำ", isLatin: false, prior: -1 },
];
