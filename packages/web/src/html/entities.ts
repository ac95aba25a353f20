/** The Latin-1 characters from U+00A0 on, by their names in HTML. */
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/** Other names that pages use, each followed by its character. */
const OTHERS =
  "amp & lt < gt > quot \" apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › euro € trade ™ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ rArr ⇒ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ loz ◊ check ✓ cross ✗ star ☆ starf ★ lbrace { rbrace } lbrack [ rbrack ] lpar ( rpar ) lowbar _ grave ` num # dollar $ percnt % ast * plus + comma , period . sol / bsol \\ colon : semi ; equals = quest ? commat @ excl ! verbar | vert | hyphen ‐";

const named = new Map<string, string>();
for (const [index, name] of LATIN.split(" ").entries()) named.set(name, String.fromCharCode(0xa0 + index));
const others = OTHERS.split(" ");
for (let index = 0; index + 1 < others.length; index += 2)
  named.set(others[index] ?? "", others[index + 1] ?? "");
for (const [name, code] of [
  ["ensp", 0x2002],
  ["emsp", 0x2003],
  ["thinsp", 0x2009],
  ["Tab", 9],
  ["NewLine", 10],
] as const) {
  named.set(name, String.fromCharCode(code));
}
for (const name of ["zwnj", "zwj", "lrm", "rlm", "ZeroWidthSpace", "wbr"]) named.set(name, "");

/** Numbers that mean what Windows has there, since that is what their writers saw. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** The text with character references replaced; one that is not known stays, and so does `&copy=` in an address. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(x[0-9a-f]{1,8}|[0-9]{1,8});?|([a-z][a-z0-9]{1,24})(?:;|(?!=)))/gi, characterOf);
}

function characterOf(whole: string, number?: string, name?: string): string {
  if (name !== undefined) return whole.endsWith(";") || name.length < 7 ? (named.get(name) ?? whole) : whole;
  const code = Number(/^x/i.test(number ?? "") ? `0${number}` : number);
  if (code >= 0x80 && code <= 0x9f) return WINDOWS[code - 0x80] ?? "\ufffd";
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}
