/** The size of a segment: large enough to be worth storing, and for few pieces in one write to the socket. */
const SEGMENT_CHARACTERS = 64 * 1024;

interface Segment {
  readonly pieces: readonly string[];
  readonly bytes: Uint8Array;
}

/** Encodes request bodies. A body shares the bytes of its beginning with the previous one, however long it is. */
export class BodyEncoder {
  readonly #known = new WeakMap<object, readonly Segment[]>();

  encodeConversation(conversation: object, pieces: readonly string[]): Uint8Array[] {
    if (pieces.length === 1) return [encodePieces(pieces)];
    const segments: Segment[] = [];
    let start = 0;
    for (const segment of this.#known.get(conversation) ?? []) {
      if (!segment.pieces.every((piece, index) => piece === pieces[start + index])) break;
      segments.push(segment);
      start += segment.pieces.length;
    }
    let characters = 0;
    for (let at = start; at < pieces.length; at += 1) {
      characters += pieces[at]?.length ?? 0;
      if (characters < SEGMENT_CHARACTERS) continue;
      const run = pieces.slice(start, at + 1);
      segments.push({ pieces: run, bytes: encodePieces(run) });
      start = at + 1;
      characters = 0;
    }
    this.#known.set(conversation, segments);
    return [...segments.map(({ bytes }) => bytes), encodePieces(pieces.slice(start))];
  }
}

function encodePieces(pieces: readonly string[]): Uint8Array {
  return Buffer.from(pieces.join(""));
}
