import { randomUUID } from "node:crypto";
import { getOrCreate } from "@burin/contract/async/once";
import { describeError } from "@burin/contract/text/error-message";
import { sendHttpRequest } from "@burin/net/http-request";

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** The name, which is `chat ...` for a request to another program. */
  readonly name: string;
  /** The start in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
}

/** Histograms of seconds, with the bucket limits of OpenTelemetry's conventions. */
const SECONDS = {
  unit: "s",
  bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
};
const METRICS = {
  "gen_ai.client.token.usage": {
    unit: "{token}",
    bounds: Array.from({ length: 14 }, (_, power) => 4 ** power),
  },
  "gen_ai.client.operation.duration": SECONDS,
  "gen_ai.execute_tool.duration": SECONDS,
};

/** How long the end of a session waits for the last export, whatever the timeout of other requests is. */
const LAST_WAIT_MS = 3000;
const DEFAULT_TIMEOUT_MS = 10_000;
const PAUSE_MS = 5000;
/** The maximum number of spans that wait. If they cannot be sent, the oldest are dropped. */
const MAX_SPANS = 2000;

interface Series {
  readonly attributes: Attributes;
  readonly counts: number[];
  sum: number;
}

interface Target {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

type Signal = "traces" | "metrics";

/** Sends OTLP as JSON over HTTP, without the SDK: its 15 packages of 29 MB take longer to load than all of Burin. */
export class Otlp {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #targets: Readonly<Record<Signal, Target | null>>;
  readonly #resource: object;
  readonly #begun = Date.now();
  readonly #series = new Map<string, Series>();
  readonly #tell: (message: string) => void;
  #spans: Span[] = [];
  #hasMeasured = false;
  #timer: NodeJS.Timeout | undefined;
  #isTold = false;

  /** `endpoint` replaces the environment variable. */
  constructor(environment: NodeJS.ProcessEnv, endpoint: string | undefined, tell: (message: string) => void) {
    this.#environment = environment;
    this.#tell = tell;
    const [traces, metrics] = [this.#findTarget("traces", endpoint), this.#findTarget("metrics", endpoint)];
    this.#targets = { traces, metrics };
    const attributes = {
      "service.name": "burin",
      ...parsePairs(environment.OTEL_RESOURCE_ATTRIBUTES),
      ...(environment.OTEL_SERVICE_NAME && { "service.name": environment.OTEL_SERVICE_NAME }),
      "service.instance.id": randomUUID(),
    };
    this.#resource = { attributes: formatAttributes(attributes) };
  }

  /** Returns where to send a signal. null if the variables turn it off or cannot be read. */
  #findTarget(kind: Signal, endpoint: string | undefined): Target | null {
    const environment = this.#environment;
    const { OTEL_EXPORTER_OTLP_ENDPOINT: shared, OTEL_EXPORTER_OTLP_HEADERS: headers } = environment;
    const getVariable = (name: string) => environment[`OTEL_EXPORTER_OTLP_${kind.toUpperCase()}_${name}`];
    if (environment[`OTEL_${kind.toUpperCase()}_EXPORTER`] === "none") return null;
    const top = endpoint ?? shared;
    const address =
      (endpoint === undefined && getVariable("ENDPOINT")) || (top && `${top.replace(/\/+$/, "")}/v1/${kind}`);
    if (!address) return null;
    const url = URL.canParse(address) ? new URL(address) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      this.#reportOnce(`Telemetry is not sent: "${address}" is not an http or https URL.`);
      return null;
    }
    return { url, headers: { ...parsePairs(headers), ...parsePairs(getVariable("HEADERS")) } };
  }

  #reportOnce(message: string): void {
    if (!this.#isTold) this.#tell(message);
    this.#isTold = true;
  }

  addSpan(span: Span): void {
    if (this.#targets.traces === null) return;
    this.#spans.push(span);
    if (this.#spans.length > MAX_SPANS) this.#spans.shift();
    this.#sendLater();
  }

  recordMeasurement(metric: keyof typeof METRICS, value: number, attributes: Attributes): void {
    if (this.#targets.metrics === null) return;
    const { bounds } = METRICS[metric];
    const key = JSON.stringify([metric, attributes]);
    const createHistogram = () => ({ attributes, counts: Array(bounds.length + 1).fill(0), sum: 0 });
    const series = getOrCreate(this.#series, key, createHistogram);
    const bucket = bounds.filter((bound) => value > bound).length;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
    this.#hasMeasured = true;
    this.#sendLater();
  }

  #sendLater(): void {
    this.#timer ??= setTimeout(() => void this.sendPending(DEFAULT_TIMEOUT_MS), PAUSE_MS).unref();
  }

  /** Sends everything that is waiting. Never rejects. */
  async sendPending(maxMs = LAST_WAIT_MS): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spans = this.#spans.splice(0);
    const isMeasured = this.#hasMeasured;
    this.#hasMeasured = false;
    const given = Number(this.#environment.OTEL_EXPORTER_OTLP_TIMEOUT) || DEFAULT_TIMEOUT_MS;
    const signal = AbortSignal.timeout(Math.min(maxMs, given));
    const scope = { name: "burin" };
    const traces = {
      resourceSpans: [{ resource: this.#resource, scopeSpans: [{ scope, spans: spans.map(formatSpan) }] }],
    };
    const metrics = {
      resourceMetrics: [
        { resource: this.#resource, scopeMetrics: [{ scope, metrics: this.#buildMetrics() }] },
      ],
    };
    await Promise.all([
      spans.length > 0 && this.#postData("traces", traces, signal),
      isMeasured && this.#postData("metrics", metrics, signal),
    ]);
  }

  async #postData(kind: Signal, value: object, signal: AbortSignal): Promise<void> {
    const target = this.#targets[kind];
    if (target === null) return;
    const body = [Buffer.from(JSON.stringify(value))];
    const headers = { ...target.headers, "content-type": "application/json" };
    const request = {
      url: target.url,
      method: "POST" as const,
      headers,
      body,
      environment: this.#environment,
    };
    try {
      const answer = await sendHttpRequest(request, signal);
      for await (const _ of answer.body);
      if (answer.status >= 300) throw new Error(`the answer was ${answer.status}`);
    } catch (error) {
      const { origin, pathname } = target.url;
      this.#reportOnce(`Telemetry could not be sent to ${origin}${pathname}: ${describeError(error)}`);
    }
  }

  #buildMetrics(): object[] {
    const time = { startTimeUnixNano: toNanoseconds(this.#begun), timeUnixNano: toNanoseconds(Date.now()) };
    return Object.entries(METRICS).flatMap(([name, { unit, bounds }]) => {
      const own = [...this.#series].filter(([key]) => key.startsWith(`["${name}"`));
      if (own.length === 0) return [];
      const dataPoints = own.map(([, { attributes, counts, sum }]) => ({
        ...time,
        attributes: formatAttributes(attributes),
        count: String(counts.reduce((all, count) => all + count, 0)),
        sum,
        bucketCounts: counts.map(String),
        explicitBounds: bounds,
      }));
      // 2 means cumulative: counted from the start, not from the last export.
      return [{ name, unit, histogram: { aggregationTemporality: 2, dataPoints } }];
    });
  }
}

/** Parses a list such as `one=1,two=2` with URL-encoded values. */
function parsePairs(text = ""): Record<string, string> {
  const pairs = new URLSearchParams(text.replaceAll("+", "%2B").replaceAll(",", "&"));
  return Object.fromEntries([...pairs].map(([key, value]) => [key.trim(), value.trim()]));
}

function formatSpan({ start, end, attributes, ...span }: Span): object {
  const times = { startTimeUnixNano: toNanoseconds(start), endTimeUnixNano: toNanoseconds(end) };
  const status = attributes["error.type"] === undefined ? {} : { status: { code: 2 } };
  const kind = attributes["gen_ai.operation.name"] === "chat" ? 3 : 1;
  return { ...span, kind, ...times, attributes: formatAttributes(attributes), ...status };
}

function toNanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds)) * 1_000_000n);
}

function formatAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: formatValue(value) }],
  );
}

function formatValue(value: string | number | boolean | readonly string[]): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(formatValue) } };
}
