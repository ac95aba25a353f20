const KEEP_MS = 15 * 60_000;
const MAX_PAGES = 32;
const MAX_CHARACTERS = 20_000_000;

/** Stores recently read pages, so that reading the next part needs no request. Removes the oldest ones first. */
export class PageCache<Page> {
  readonly #pages = new Map<string, { readonly page: Page; readonly size: number; readonly until: number }>();
  readonly #now: () => number;
  #size = 0;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get(key: string): Page | undefined {
    const found = this.#pages.get(key);
    if (found === undefined || found.until > this.#now()) return found?.page;
    this.#remove(key, found.size);
    return undefined;
  }

  set(key: string, page: Page, size: number): void {
    const before = this.#pages.get(key);
    if (before) this.#remove(key, before.size);
    this.#pages.set(key, { page, size, until: this.#now() + KEEP_MS });
    this.#size += size;
    for (const [oldest, { size: freed }] of this.#pages) {
      if (this.#pages.size <= MAX_PAGES && this.#size <= MAX_CHARACTERS) break;
      this.#remove(oldest, freed);
    }
  }

  #remove(key: string, size: number): void {
    this.#pages.delete(key);
    this.#size -= size;
  }
}
