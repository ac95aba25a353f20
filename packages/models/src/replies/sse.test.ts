import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { sendHttpRequest } from "@burin/net/http-request";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventSplitter } from "./sse.ts";

async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const splitter = new EventSplitter();
  for await (const piece of body) yield* splitter.read(piece);
  yield* splitter.end();
}

/** Sends the pieces over a real socket, each as a separate chunk, and returns what the reader makes of them. */
async function readOver(pieces: readonly (string | Uint8Array)[]): Promise<string[]> {
  return withServer(
    async (response) => {
      for (const piece of pieces) {
        response.write(piece);
        await pause(1);
      }
      response.end();
    },
    async (url) => {
      const events: string[] = [];
      for await (const data of readServerSentEvents(await bodyOf(url))) events.push(data);
      return events;
    },
  );
}

async function withServer<T>(
  answer: (response: ServerResponse) => Promise<void>,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const server = createServer((_request, response) => void answer(response));
  const port = await listenOnFreePort(server);
  try {
    return await use(`http://127.0.0.1:${port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function bodyOf(
  url: string,
  signal = new AbortController().signal,
): Promise<AsyncIterable<Uint8Array>> {
  return (await sendHttpRequest({ url: new URL(url), method: "GET", headers: {} }, signal)).body;
}

function streamOf(pieces: readonly Uint8Array[]): Parameters<typeof readServerSentEvents>[0] {
  const list = [...pieces];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = list.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
  return stream as Parameters<typeof readServerSentEvents>[0];
}

describe("the reader of server-sent events", () => {
  it("takes LF, CRLF and CR line ends, comments, other fields and data without a blank after the colon", async () => {
    const body =
      ": hello\r\n\r\ndata: one\r\n\r\nevent: x\nid: 7\nretry: 5\ndata:two\n\n: ping\n\ndata: three\r\rdata:four\n\n";
    expect(await readOver([body])).toEqual(["one", "two", "three", "four"]);
  });

  it("joins several data lines of one event", async () => {
    expect(await readOver(["data: a\ndata: b\n\n"])).toEqual(["a\nb"]);
  });

  it("P34 gives the last event of a body that ends without a blank line or without any line end", async () => {
    expect(await readOver(["data: one\n\ndata: two"])).toEqual(["one", "two"]);
    expect(await readOver(["data: one\n\ndata: two\n"])).toEqual(["one", "two"]);
    expect(await readOver(["data: one\r\n\r\ndata: two\r"])).toEqual(["one", "two"]);
  });

  it("P34 gives an event without an empty line behind it before the next one has come", async () => {
    const pieces = [
      'data: {"a":1}\n',
      'event: x\r\ndata:{"a":2}\r\n',
      'data: {"a":{}\ndata: }\n\n',
      "data: end",
    ];
    const events: string[] = [];
    const body = async function* () {
      for (const [place, piece] of pieces.entries()) {
        expect(events).toHaveLength(place);
        yield Buffer.from(piece);
      }
    };
    for await (const data of readServerSentEvents(body())) events.push(data);
    expect(events).toEqual(['{"a":1}', '{"a":2}', '{"a":{}\n}', "end"]);
  });

  it("gives nothing for an empty body and for one of blanks and comments", async () => {
    expect(await readOver([])).toEqual([]);
    expect(await readOver(["\n\n", ": ping\n\n", "\r\n"])).toEqual([]);
  });

  it("gives the same events however the bytes are cut, inside characters and line ends too", async () => {
    const text = '\ufeffdata: grüße 漢字 😀\r\n\r\n: ping\r\ndata:{"a":"\u00e9"}\n\ndata: ende';
    const bytes = new TextEncoder().encode(text);
    const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
        const pieces = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        const events: string[] = [];
        for await (const data of readServerSentEvents(streamOf(pieces))) events.push(data);
        expect(events).toEqual(["grüße 漢字 😀", '{"a":"é"}', "ende"]);
      }),
    );
  });

  it("reads an error that a server sends in a field of its own", async () => {
    expect(await readOver(['error: {"message":"boom"}\n\n'])).toEqual(['{"error":{"message":"boom"}}']);
  });

  it("gives a body that is no event stream whole", async () => {
    expect(await readOver(["\n {\n", '"a": 1\n\n}'])).toEqual(['\n {\n"a": 1\n\n}']);
    expect(await readOver(["<!doctype html>\n\n<p>data: x</p>\n\n"])).toEqual([
      "<!doctype html>\n\n<p>data: x</p>\n\n",
    ]);
  });

  it("P34 looks once whether a document that comes in small pieces is one of lines", async () => {
    const document = `{${'\n"a": 1,'.repeat(100_000)}\n"b": 1}`;
    const pieces = async function* () {
      for (let at = 0; at < document.length; at += 9) yield Buffer.from(document.slice(at, at + 9));
    };
    const read: string[] = [];
    for await (const data of readServerSentEvents(pieces())) read.push(data);
    expect(read).toEqual([document]);
  });

  it("P34 gives up an event or a line that never ends before it fills the memory", async () => {
    for (const piece of ["data: x\n".repeat(100_000), "x".repeat(800_000), `{"a":"${"x".repeat(800_000)}`]) {
      const taken: number[] = [];
      const endless = async function* () {
        for (let at = 0; at < 100; at += 1) {
          taken.push(at);
          yield Buffer.from(piece);
        }
      };
      const read = async () => {
        for await (const _ of readServerSentEvents(endless()));
      };
      await expect(read()).rejects.toThrow("characters without an end");
      expect(taken.length).toBeLessThan(100);
    }
  });

  it("throws when the connection breaks, after the events that came", async () => {
    await withServer(
      async (response) => {
        response.write("data: one\n\n");
        await pause(20);
        response.destroy();
      },
      async (url) => {
        const body = await bodyOf(url);
        const events: string[] = [];
        const reading = async (): Promise<void> => {
          for await (const data of readServerSentEvents(body)) events.push(data);
        };
        await expect(reading()).rejects.toThrow("aborted");
        expect(events).toEqual(["one"]);
      },
    );
  });

  it.each(["abort", "leave"])("closes the connection on %s, also in the middle of a silence", async (way) => {
    let closed: Promise<unknown> | undefined;
    await withServer(
      async (response) => {
        closed = once(response, "close");
        response.write("data: one\n\n");
      },
      async (url) => {
        const controller = new AbortController();
        const body = await bodyOf(url, controller.signal);
        const reading = async (): Promise<void> => {
          for await (const data of readServerSentEvents(body)) {
            expect(data).toBe("one");
            if (way === "leave") return;
            setTimeout(() => controller.abort(), 10);
          }
        };
        if (way === "abort") await expect(reading()).rejects.toThrow("abort");
        else await reading();
        await closed;
      },
    );
  });
});
