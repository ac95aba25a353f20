import type { SearchRequest } from "@burin/contract/machine/search-request";
import { globCovers, globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Access } from "../files/access.ts";
import { patternWithin } from "../files/paths.ts";
import type { Stretch, Walk } from "../files/walk.ts";

interface Choice extends Pick<SearchRequest, "include" | "exclude"> {
  readonly access: Access;
  /** The real path of the searched folder. */
  readonly place: string;
}

/** The files that are to be searched, in the order of their paths: one by one or many at once. */
export class WantedFiles {
  readonly #walk: Walk;
  /** null when all are. */
  readonly #isWanted: ((path: string) => boolean) | null;
  #stretch: Stretch | null = null;
  #at = 0;

  constructor(walk: Walk, choice: Choice) {
    this.#walk = walk;
    this.#isWanted = wantedBy(choice);
  }

  /** null at the end. */
  next(): string | null {
    if (this.#stretch === null || this.#at === this.#stretch.names.length) {
      this.#stretch = this.#nextStretch();
      this.#at = 0;
    }
    const name = this.#stretch?.names[this.#at];
    this.#at += 1;
    return this.#stretch === null || name === undefined ? null : this.#stretch.folder + name;
  }

  /** All that follow in one folder; null at the end. */
  nextStretch(): Stretch | null {
    const [begun, at] = [this.#stretch, this.#at];
    this.#stretch = null;
    if (begun === null || at === begun.names.length) return this.#nextStretch();
    return { ...begun, names: begun.names.slice(at) };
  }

  #nextStretch(): Stretch | null {
    const isWanted = this.#isWanted;
    for (let stretch = this.#walk.nextStretch(); stretch !== null; stretch = this.#walk.nextStretch()) {
      if (isWanted === null) return stretch;
      const { folder, names } = stretch;
      const wanted = names.filter((name) => isWanted(folder + name));
      if (wanted.length === names.length) return stretch;
      if (wanted.length > 0) return { folder, names: wanted, isWhole: false };
    }
    return null;
  }
}

function wantedBy({ include, exclude, access, place }: Choice): ((path: string) => boolean) | null {
  if (include.length + exclude.length === 0 && !access.hasDenials) return null;
  const within = (glob: string) => patternWithin(glob, place);
  const included = include.map((glob) => globMatcher(within(glob), { caseSensitive: true }));
  const excluded = exclude.map((glob) => globCovers(within(glob), { caseSensitive: true }));
  return (path) =>
    (included.length === 0 || included.some((matches) => matches(path))) &&
    !excluded.some((matches) => matches(path)) &&
    access.deniedBy(`${place}/${path}`) === null;
}
