import { type CharSet, listRanges, WORD } from "./char-set.ts";
import { type Assertion, type Pattern, PatternError } from "./pattern.ts";

/** The position at which the pattern has matched. */
export const MATCHED = 0;

const MAX_PLACES = 5000;

interface MatchPosition {
  /** The number of the character set that the next character must be in; -1 when the position reads no character. */
  readonly set: number;
  readonly asserts: Assertion | null;
  readonly exits: readonly number[];
}

/** A pattern as a state machine. Some positions read a character; the others lead on without reading. */
export class Machine {
  readonly start: number;
  readonly places: MatchPosition[] = [{ set: -1, asserts: null, exits: [] }];
  readonly sets: CharSet[] = [];
  readonly #setNumbers = new Map<string, number>();

  /** Throws a PatternError when the pattern is too large, for example because of nested repetition. */
  constructor(pattern: Pattern) {
    this.start = this.#addBefore(pattern, MATCHED);
  }

  /** Builds the machine from the end: each pattern gets the position that follows it. Returns its first position. */
  #addBefore(pattern: Pattern, next: number): number {
    switch (pattern.kind) {
      case "one":
        return this.#add({ set: this.#indexCharSet(pattern.set), asserts: null, exits: [next] });
      case "assert":
        return this.#add({ set: -1, asserts: pattern.what, exits: [next] });
      case "sequence":
        return pattern.parts.reduceRight((following, part) => this.#addBefore(part, following), next);
      case "choice": {
        const exits = pattern.options.map((option) => this.#addBefore(option, next));
        return this.#add({ set: -1, asserts: null, exits });
      }
      case "repeat":
        return this.#addRepetition(pattern, next);
    }
  }

  #addRepetition(pattern: Pattern & { readonly kind: "repeat" }, next: number): number {
    const { of, min, max } = pattern;
    let start = next;
    if (max === null) {
      const exits: number[] = [next];
      start = this.#add({ set: -1, asserts: null, exits });
      exits.push(this.#addBefore(of, start));
    } else {
      for (let times = min; times < max; times += 1) {
        start = this.#add({ set: -1, asserts: null, exits: [this.#addBefore(of, start), next] });
      }
    }
    for (let times = 0; times < min; times += 1) start = this.#addBefore(of, start);
    return start;
  }

  #indexCharSet(set: CharSet): number {
    const key = set.join(",");
    if (!this.#setNumbers.has(key)) this.#setNumbers.set(key, this.sets.push(set) - 1);
    return this.#setNumbers.get(key) ?? -1;
  }

  #add(place: MatchPosition): number {
    if (this.places.length >= MAX_PLACES) {
      throw new PatternError("The pattern is too large; use fewer or smaller repetitions.");
    }
    this.places.push(place);
    return this.places.length - 1;
  }
}

export interface AutomatonOptions {
  /** true if the whole text must match, not just a part of it. */
  readonly whole: boolean;
  /** The time of `performance.now()` after which the match stops with MatchTimeoutError. */
  readonly stopAt?: number;
}

export class MatchTimeoutError extends Error {
  override readonly name = "MatchTimeoutError";
}

/** The kind of the previous character, on which assertions depend. */
const AT_START = 0;
const AFTER_WORD = 1;
const AFTER_OTHER = 2;

const MAX_STATES = 4000;
/** The maximum number of entries in the step tables of all states together. */
const MAX_STEPS = 4_000_000;

interface State {
  /** The positions in the machine, ascending. Empty transitions from them have not been followed yet. */
  readonly places: readonly number[];
  readonly before: number;
  /** The next state for each letter, filled in when it is first computed. */
  readonly steps: (State | undefined)[];
}

const FOUND: State = { places: [], before: AFTER_OTHER, steps: [] };

/** Matches any pattern in time linear in the text, with a lazily built DFA of limited size and no backtracking. */
export class Automaton {
  readonly #machine: Machine;
  readonly #alphabet: Alphabet;
  readonly #whole: boolean;
  readonly #stopAt: number;
  readonly #marks: Int32Array;
  #mark = 0;
  readonly #states = new Map<string, State>();
  #start: State;

  constructor(pattern: Pattern, options: AutomatonOptions) {
    this.#machine = new Machine(pattern);
    this.#whole = options.whole;
    this.#stopAt = options.stopAt ?? Number.POSITIVE_INFINITY;
    this.#alphabet = new Alphabet(this.#machine.sets);
    this.#marks = new Int32Array(this.#machine.places.length);
    this.#start = this.#findState([this.#machine.start], AT_START);
  }

  matches(text: string): boolean {
    return this.findMatchEnd(text, 0, text.length) !== -1;
  }

  /** Whether some text that starts with `beginning` could match as a whole. */
  canStillMatch(beginning: string): boolean {
    let state = this.#start;
    for (const character of beginning) {
      const letter = this.#alphabet.toLetter(character.codePointAt(0) ?? 0);
      state = state.steps[letter] ?? this.#computeNext(state, letter);
    }
    return state.places.length > 0;
  }

  /** Returns the end of the earliest match in this part of the text, or -1. Assertions see only this part. */
  findMatchEnd(text: string, from: number, to: number): number {
    const alphabet = this.#alphabet;
    let state = this.#start;
    let at = from;
    while (at < to) {
      let code = text.charCodeAt(at);
      let step = 1;
      if (code >= 0xd800 && code < 0xdc00 && at + 1 < to) {
        code = text.codePointAt(at) ?? code;
        if (code > 0xffff) step = 2;
      }
      const letter = alphabet.toLetter(code);
      state = state.steps[letter] ?? this.#computeNext(state, letter);
      if (state === FOUND) return at;
      at += step;
    }
    const last = state.steps[alphabet.end] ?? this.#computeNext(state, alphabet.end);
    return last === FOUND ? to : -1;
  }

  #computeNext(state: State, letter: number): State {
    if (performance.now() > this.#stopAt) throw new MatchTimeoutError("The search ran out of time.");
    const alphabet = this.#alphabet;
    const isEnd = letter === alphabet.end;
    const reached = this.#listReachable(state, isEnd, alphabet.isWord(letter));
    let next = FOUND;
    if (!reached.includes(MATCHED) || (this.#whole && !isEnd)) {
      const places = this.#whole ? [] : [this.#machine.start];
      for (const place of isEnd ? [] : reached) {
        const { set = -1, exits = [] } = this.#machine.places[place] ?? {};
        if (alphabet.hasLetter(set, letter)) places.push(...exits);
      }
      const sorted = [...new Set(places)].sort((a, b) => a - b);
      next = this.#findState(sorted, alphabet.isWord(letter) ? AFTER_WORD : AFTER_OTHER);
    }
    state.steps[letter] = next;
    return next;
  }

  #findState(places: readonly number[], before: number): State {
    const key = `${before}:${places.join(",")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const { size } = this.#alphabet;
    if (this.#states.size >= Math.min(MAX_STATES, MAX_STEPS / size)) {
      // Start over with an empty cache: only the current state is needed from here on.
      this.#states.clear();
      this.#start = this.#findState([this.#machine.start], AT_START);
    }
    const state = { places, before, steps: Array<State | undefined>(size).fill(undefined) };
    this.#states.set(key, state);
    return state;
  }

  /** Returns the positions that read a character or mark the match and can be reached without reading. */
  #listReachable(state: State, isEnd: boolean, isBeforeWord: boolean): number[] {
    const edge = (state.before === AFTER_WORD) !== isBeforeWord;
    const start = state.before === AT_START;
    const facts = { start, end: isEnd, "word edge": edge, "no word edge": !edge };
    this.#mark += 1;
    const reached: number[] = [];
    const waiting = [...state.places];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (this.#marks[place] === this.#mark) continue;
      this.#marks[place] = this.#mark;
      const { set = -1, asserts = null, exits = [] } = this.#machine.places[place] ?? {};
      if (place === MATCHED || set !== -1) reached.push(place);
      else if (asserts === null || facts[asserts]) waiting.push(...exits);
    }
    return reached;
  }
}

/** Groups characters that no set distinguishes into one letter. The last letter means the end of the text. */
class Alphabet {
  readonly end: number;
  readonly size: number;
  readonly #firsts: readonly number[];
  readonly #ascii = new Uint16Array(128);
  readonly #members: readonly Uint8Array[];
  readonly #words: Uint8Array;

  constructor(sets: readonly CharSet[]) {
    const firsts = new Set([0]);
    for (const set of [...sets, WORD]) {
      for (const [first, last] of listRanges(set)) firsts.add(first).add(last + 1);
    }
    this.#firsts = [...firsts].sort((a, b) => a - b);
    this.end = this.#firsts.length;
    this.size = this.end + 1;
    this.#members = sets.map((set) => this.#listMembers(set));
    this.#words = this.#listMembers(WORD);
    for (let code = 0; code < 128; code += 1) this.#ascii[code] = this.#findRange(code);
  }

  toLetter(code: number): number {
    return code < 128 ? (this.#ascii[code] ?? 0) : this.#findRange(code);
  }

  hasLetter(set: number, letter: number): boolean {
    return this.#members[set]?.[letter] === 1;
  }

  isWord(letter: number): boolean {
    return this.#words[letter] === 1;
  }

  #listMembers(set: CharSet): Uint8Array {
    const members = new Uint8Array(this.size);
    for (const [first, last] of listRanges(set)) {
      for (let letter = this.#findRange(first); (this.#firsts[letter] ?? last + 1) <= last; letter += 1) {
        members[letter] = 1;
      }
    }
    return members;
  }

  #findRange(code: number): number {
    let low = 0;
    let high = this.#firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#firsts[middle] ?? 0) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
