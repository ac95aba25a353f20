// Chance that can be repeated.

/** @param {number} seed */
export function createRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    /** @param {number} below */
    int: (below) => Math.floor(next() * below),
    /** @param {number} share */
    chance: (share) => next() < share,
    /** @template T @param {readonly T[]} all @returns {T} */
    pick: (all) => /** @type {T} */ (all[Math.floor(next() * all.length)]),
  };
}

/** @typedef {ReturnType<typeof createRandom>} Random */

/** @param {string} text */
export function hashText(text) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash >>> 0;
}

/** @template T @param {readonly T[]} all @param {Random} random */
export function shuffle(all, random) {
  const rest = [...all];
  for (let at = rest.length - 1; at > 0; at--) {
    const other = random.int(at + 1);
    [rest[at], rest[other]] = [/** @type {T} */ (rest[other]), /** @type {T} */ (rest[at])];
  }
  return rest;
}
