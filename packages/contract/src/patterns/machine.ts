import type { CharSet } from "./char-set.ts";
import { type Assertion, type Pattern, PatternError } from "./pattern.ts";

/** The place where the pattern has matched. */
export const MATCHED = 0;

const MOST_PLACES = 5000;

interface Place {
  /** The number of the set that the next character must be in; -1 when the place reads no character. */
  readonly set: number;
  readonly asserts: Assertion | null;
  readonly exits: readonly number[];
}

/** A pattern as a state machine: some places read a character, the others lead on at once. */
export class Machine {
  readonly start: number;
  readonly places: Place[] = [{ set: -1, asserts: null, exits: [] }];
  readonly sets: CharSet[] = [];
  readonly #setNumbers = new Map<string, number>();

  /** Throws PatternError when the pattern is too large, for example because of nested repetition. */
  constructor(pattern: Pattern) {
    this.start = this.#before(pattern, MATCHED);
  }

  /** Builds from the end: each pattern gets the place that follows it. */
  #before(pattern: Pattern, next: number): number {
    switch (pattern.kind) {
      case "one":
        return this.#add({ set: this.#numberOf(pattern.set), asserts: null, exits: [next] });
      case "assert":
        return this.#add({ set: -1, asserts: pattern.what, exits: [next] });
      case "sequence":
        return pattern.parts.reduceRight((following, part) => this.#before(part, following), next);
      case "choice": {
        const exits = pattern.options.map((option) => this.#before(option, next));
        return this.#add({ set: -1, asserts: null, exits });
      }
      case "repeat":
        return this.#repeated(pattern, next);
    }
  }

  #repeated(pattern: Pattern & { readonly kind: "repeat" }, next: number): number {
    const { of, least, most } = pattern;
    let start = next;
    if (most === null) {
      const exits: number[] = [next];
      start = this.#add({ set: -1, asserts: null, exits });
      exits.push(this.#before(of, start));
    } else {
      for (let times = least; times < most; times += 1) {
        start = this.#add({ set: -1, asserts: null, exits: [this.#before(of, start), next] });
      }
    }
    for (let times = 0; times < least; times += 1) start = this.#before(of, start);
    return start;
  }

  #numberOf(set: CharSet): number {
    const key = set.join(",");
    if (!this.#setNumbers.has(key)) this.#setNumbers.set(key, this.sets.push(set) - 1);
    return this.#setNumbers.get(key) ?? -1;
  }

  #add(place: Place): number {
    if (this.places.length >= MOST_PLACES) {
      throw new PatternError("The pattern is too large; use fewer or smaller repetitions.");
    }
    this.places.push(place);
    return this.places.length - 1;
  }
}
