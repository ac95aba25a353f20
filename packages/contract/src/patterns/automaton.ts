import { type CharSet, rangesOf, WORD } from "./char-set.ts";
import { MATCHED, type Machine, machineOf } from "./machine.ts";
import type { Pattern } from "./pattern.ts";

export interface AutomatonOptions {
  /** The whole text must match, not a part of it. */
  readonly whole: boolean;
  /** A time of `performance.now()` after which the work stops with OutOfTime. */
  readonly stopAt?: number;
}

/** Thrown when the search reaches its time limit. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** The kind of the previous character; assertions depend on it. */
const AT_START = 0;
const AFTER_WORD = 1;
const AFTER_OTHER = 2;

const MOST_STATES = 4000;
/** States times letters, four bytes each. */
const MOST_STEPS = 4_000_000;
const FOUND = -1;
const UNKNOWN = -2;

interface State {
  /** Places in the machine, ascending; none has been passed yet. */
  readonly places: readonly number[];
  readonly before: number;
}

/**
 * Matches a pattern in time linear to the text, whatever the pattern: a lazily built DFA whose states are kept up
 * to a limit, with no backtracking.
 */
export class Automaton {
  readonly #machine: Machine;
  readonly #alphabet: Alphabet;
  readonly #whole: boolean;
  readonly #stopAt: number;
  readonly #marks: Int32Array;
  #mark = 0;
  #states: State[] = [];
  #numbers = new Map<string, number>();
  #steps = new Int32Array(0);

  constructor(pattern: Pattern, options: AutomatonOptions) {
    this.#machine = machineOf(pattern);
    this.#whole = options.whole;
    this.#stopAt = options.stopAt ?? Number.POSITIVE_INFINITY;
    this.#alphabet = new Alphabet(this.#machine.sets);
    this.#marks = new Int32Array(this.#machine.places.length);
    this.#forget();
  }

  matches(text: string): boolean {
    return this.find(text, 0, text.length) !== -1;
  }

  /** Whether a text that begins like this can match as a whole. */
  canGoOn(beginning: string): boolean {
    let state = 0;
    for (const character of beginning) {
      const letter = this.#alphabet.letterOf(character.codePointAt(0) ?? 0);
      const known = this.#steps[state * this.#alphabet.size + letter] ?? UNKNOWN;
      state = known === UNKNOWN ? this.#step(state, letter) : known;
    }
    return (this.#states[state]?.places.length ?? 0) > 0;
  }

  /** Where the earliest match in this part of the text ends, or -1. Assertions see only the part. */
  find(text: string, from: number, to: number): number {
    const alphabet = this.#alphabet;
    const width = alphabet.size;
    let state = 0;
    let at = from;
    while (at < to) {
      let code = text.charCodeAt(at);
      let step = 1;
      if (code >= 0xd800 && code < 0xdc00 && at + 1 < to) {
        code = text.codePointAt(at) ?? code;
        if (code > 0xffff) step = 2;
      }
      const letter = alphabet.letterOf(code);
      let next = this.#steps[state * width + letter] ?? UNKNOWN;
      if (next === UNKNOWN) next = this.#step(state, letter);
      if (next === FOUND) return at;
      state = next;
      at += step;
    }
    let last = this.#steps[state * width + alphabet.end] ?? UNKNOWN;
    if (last === UNKNOWN) last = this.#step(state, alphabet.end);
    return last === FOUND ? to : -1;
  }

  /** Computes one step. Forgotten states are never needed again: only the next one counts. */
  #step(number: number, letter: number): number {
    if (performance.now() > this.#stopAt) throw new OutOfTime("The search ran out of time.");
    const state = this.#states[number] ?? { places: [], before: AT_START };
    const alphabet = this.#alphabet;
    const isEnd = letter === alphabet.end;
    const reached = this.#reach(state, isEnd, alphabet.isWord(letter));
    if (reached === null && (!this.#whole || isEnd)) {
      this.#steps[number * alphabet.size + letter] = FOUND;
      return FOUND;
    }
    const places: number[] = [];
    for (const place of isEnd ? [] : (reached ?? this.#passed)) {
      const { set = -1, exits = [] } = this.#machine.places[place] ?? {};
      if (alphabet.isIn(set, letter)) places.push(...exits);
    }
    if (!this.#whole) places.push(this.#machine.start);
    const sorted = [...new Set(places)].sort((a, b) => a - b);
    const next = { places: sorted, before: alphabet.isWord(letter) ? AFTER_WORD : AFTER_OTHER };
    return this.#remember(number, letter, next);
  }

  #remember(from: number, letter: number, state: State): number {
    const key = `${state.before}:${state.places.join(",")}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      const isFull = this.#states.length >= Math.min(MOST_STATES, MOST_STEPS / this.#alphabet.size);
      if (isFull) this.#forget();
      number = this.#add(key, state);
      if (isFull) return number;
    }
    this.#steps[from * this.#alphabet.size + letter] = number;
    return number;
  }

  #forget(): void {
    this.#states = [];
    this.#numbers = new Map();
    this.#steps = new Int32Array(16 * this.#alphabet.size).fill(UNKNOWN);
    const start = { places: [this.#machine.start], before: AT_START };
    this.#add(`${AT_START}:${this.#machine.start}`, start);
  }

  #add(key: string, state: State): number {
    const number = this.#states.length;
    this.#states.push(state);
    this.#numbers.set(key, number);
    const needed = this.#states.length * this.#alphabet.size;
    if (needed > this.#steps.length) {
      const larger = new Int32Array(this.#steps.length * 2).fill(UNKNOWN);
      larger.set(this.#steps);
      this.#steps = larger;
    }
    return number;
  }

  /** The result of the last #reach, also when it returned null. */
  #passed: number[] = [];

  /** Returns all places reachable without reading a character; null when one of them is the end of the pattern. */
  #reach(state: State, isEnd: boolean, isBeforeWord: boolean): number[] | null {
    const isWordEdge = (state.before === AFTER_WORD) !== isBeforeWord;
    const facts = {
      start: state.before === AT_START,
      end: isEnd,
      "word edge": isWordEdge,
      "no word edge": !isWordEdge,
    };
    this.#mark += 1;
    let isMatch = false;
    const reached: number[] = [];
    const waiting = [...state.places];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (this.#marks[place] === this.#mark) continue;
      this.#marks[place] = this.#mark;
      const { set = -1, asserts = null, exits = [] } = this.#machine.places[place] ?? {};
      if (place === MATCHED) isMatch = true;
      else if (set !== -1) reached.push(place);
      else if (asserts === null || facts[asserts]) waiting.push(...exits);
    }
    this.#passed = reached;
    return isMatch ? null : reached;
  }
}

/** Characters that no set of the pattern distinguishes share one letter; the last letter is the end of text. */
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
      for (const [first, last] of rangesOf(set)) firsts.add(first).add(last + 1);
    }
    this.#firsts = [...firsts].sort((a, b) => a - b);
    this.end = this.#firsts.length;
    this.size = this.end + 1;
    this.#members = sets.map((set) => this.#membersOf(set));
    this.#words = this.#membersOf(WORD);
    for (let code = 0; code < 128; code += 1) this.#ascii[code] = this.#search(code);
  }

  letterOf(code: number): number {
    return code < 128 ? (this.#ascii[code] ?? 0) : this.#search(code);
  }

  isIn(set: number, letter: number): boolean {
    return this.#members[set]?.[letter] === 1;
  }

  isWord(letter: number): boolean {
    return this.#words[letter] === 1;
  }

  #membersOf(set: CharSet): Uint8Array {
    const members = new Uint8Array(this.size);
    for (const [first, last] of rangesOf(set)) {
      for (let letter = this.#search(first); (this.#firsts[letter] ?? last + 1) <= last; letter += 1) {
        members[letter] = 1;
      }
    }
    return members;
  }

  #search(code: number): number {
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
