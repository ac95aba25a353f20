import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

interface Posted {
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Of any form; what it must look like is checked where it is read. */
type Json = Record<string, unknown>;

/** Takes what OTLP over HTTP posts, and reads it strictly. */
export async function openReceiver(status = 200) {
  const posted: Posted[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    posted.push({ path: request.url, headers: request.headers, text });
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  const port = await listenOnFreePort(server);
  const bodies = (path: string): Json[] =>
    posted.filter((one) => one.path === path).map(({ text }) => JSON.parse(text));
  return {
    url: `http://127.0.0.1:${port}`,
    posted,
    text: () => posted.map(({ text }) => text).join("\n"),
    resource: () => attributesIn(list(bodies("/v1/traces")[0], "resourceSpans", "resource", "attributes")),
    spans: () =>
      bodies("/v1/traces").flatMap((body) => list(body, "resourceSpans", "scopeSpans", "spans").map(spanOf)),
    metrics: () => {
      const last = bodies("/v1/metrics").at(-1);
      return list(last, "resourceMetrics", "scopeMetrics", "metrics").flatMap(pointsOf);
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** All that stands below these keys, through every list on the way. */
function list(value: unknown, ...keys: string[]): Json[] {
  const [key, ...rest] = keys;
  if (key === undefined) return [value as Json];
  const below: unknown = (value as Json | undefined)?.[key] ?? [];
  return [below].flat().flatMap((one) => list(one, ...rest));
}

function attributesIn(pairs: readonly Json[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [String(key), plain(value as Json)]));
}

function plain(value: Json): unknown {
  if ("intValue" in value) return Number(value.intValue);
  const [[, only] = []] = Object.entries(value);
  return only;
}

function spanOf(span: Json): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId, kind, startTimeUnixNano: start, endTimeUnixNano: end } = span;
  for (const [id, form] of [
    [traceId, /^[\da-f]{32}$/],
    [spanId, /^[\da-f]{16}$/],
    [start, /^\d{19}$/],
    [end, /^\d{19}$/],
  ] as const)
    if (!form.test(String(id))) throw new Error(`${id} is not what OTLP takes`);
  const isError = (span.status as Json | undefined)?.code === 2;
  const times = { start: Number(start), end: Number(end) };
  return {
    name,
    traceId,
    spanId,
    parentSpanId,
    kind,
    ...times,
    attributes: attributesIn(span.attributes as Json[]),
    isError,
  } as unknown as ReceivedSpan;
}

function pointsOf({ name, histogram }: Json) {
  return list(histogram, "dataPoints").map((point) => {
    const { attributes, count, sum, bucketCounts, explicitBounds } = point as unknown as {
      attributes: Json[];
      count: string;
      sum: number;
      bucketCounts: string[];
      explicitBounds: number[];
    };
    const total = bucketCounts.reduce((all, one) => all + Number(one), 0);
    if (total !== Number(count) || bucketCounts.length !== explicitBounds.length + 1)
      throw new Error(`the buckets of ${name} do not fit`);
    return { name: String(name), count: Number(count), sum, attributes: attributesIn(attributes) };
  });
}
