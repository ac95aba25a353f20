import { type Finding, launchFinding, type ProgramReader, pathFinding } from "./finding.ts";

const ALONE = new Set(
  "-nouser -nogroup -empty -depth -d -mount -xdev -prune -print -print0 -ls -quit -not -a -and -o -or -true -false -readable -writable -executable -daystart -warn -nowarn -noleaf -ignore_readdir_race ! ( ) , -P -O0 -O1 -O2 -O3".split(
    " ",
  ),
);
const WITH_VALUE = new Set(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -maxdepth -mindepth -printf -links -inum -regextype -fstype -used".split(
    " ",
  ),
);
const WITH_FILE = /^-(?:samefile|newer|anewer|cnewer|newer[aBcm][aBcm])$/;
const WITH_TIME = /^-newer[aBcm]t$/;
/** Judged as the command that they launch. */
const LAUNCHING = new Set(["-exec", "-ok"]);

/** Everything that `find` can do but tests and prints is a finding; what `-exec` launches is judged elsewhere. */
export const find: ProgramReader = (words, reach) => {
  const findings: Finding[] = [];
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const { value } = word;
    if (word.isGlob && /^[*?[]/.test(value)) {
      findings.push(launchFinding(`\`${value}\` may match a name that begins with a dash`, index));
    }
    if (LAUNCHING.has(value)) {
      index = endOfLaunch(
        words.map((each) => each.value),
        index,
      );
    } else if (WITH_VALUE.has(value) || WITH_TIME.test(value)) {
      index += 1;
    } else if (WITH_FILE.test(value)) {
      index += 1;
      findings.push(...pathFinding(words[index] ?? word, index, reach));
    } else if (value.startsWith("-") && !ALONE.has(value)) {
      findings.push(launchFinding(`\`find ${value}\` can do more than look`, index));
    } else if (!ALONE.has(value)) {
      findings.push(...pathFinding(word, index, reach));
    }
  }
  return findings;
};

/** Where the command after `-exec` at that place ends: the index of its `;` or of the `+` after `{}`. */
export function endOfLaunch(words: readonly (string | null)[], from: number): number {
  for (let index = from + 1; index < words.length; index += 1) {
    if (words[index] === ";") return index;
    if (words[index] === "+" && words[index - 1] === "{}") return index;
  }
  return words.length;
}
