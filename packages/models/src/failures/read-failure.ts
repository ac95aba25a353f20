import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { endOfJson } from "../calls/call-arguments.ts";
import { wordSet } from "../request/word-set.ts";
import { type TooLong, tooLongIn } from "./context-length.ts";

/** Why a service refuses a request or fails. */
export type FailureKind =
  /** Too many requests or tokens in a short time. */
  | "limit"
  /** No money left, or nothing left of the plan or the day. */
  | "quota"
  | "context"
  /** The model wrote a call that the service could not parse. */
  | "malformed_call"
  | "key"
  /** It is unclear whether the key or something else is the reason. */
  | "refused"
  /** The key is valid; a region, a verification or a disabled API is the reason. */
  | "permission"
  /** Locked, suspended, not active: no key helps. */
  | "account"
  | "model"
  /** There is no API at this address. */
  | "path"
  /** A gateway that has no provider for the model. */
  | "channel"
  | "no_tools"
  | "protocol"
  /** A filter of the service rejects the content. */
  | "filtered"
  /** The request is wrong, and repeating it does not help. */
  | "request"
  /** An error of the service that is likely to pass. */
  | "server"
  /** The model is not loaded at the moment; a local server loads it again with the next request. */
  | "lost_model"
  /** An error of the service that will happen again: a chat template, a lack of memory. */
  | "unfit_server";

export interface ReadFailure {
  readonly kind: FailureKind;
  readonly isPassing: boolean;
  readonly tooLong?: TooLong;
}

interface Told {
  readonly status: number;
  /** The whole response: text, or what was parsed from it. */
  readonly answer: unknown;
  /** The pause that the service asks for. */
  readonly retryAfterMs: number | undefined;
  readonly shouldRetry?: boolean | undefined;
}

/** The names of each kind: codes, types, reasons, of any service. */
const CODES: readonly (readonly [FailureKind, RegExp])[] = [
  ["malformed_call", /^(?:tool_use_failed|output_parse_failed)$/],
  [
    "context",
    /^(?:(?:model_)?context_(?:length|window)_exceeded|exceed_context_size_error|tokens_limit_reached|1261)$|(?:prompt|input|tokens)_(?:exceeded|too_long)$/,
  ],
  [
    "filtered",
    /^(?:content_(?:filter|policy|moderation)\w*|ResponsibleAIPolicyViolation|data_?inspection_?failed|blocked_prompt|prompt_blocked|cyber_policy\w*|censorship\w*|PROHIBITED_CONTENT|1301)$|sensitive_?(?:content|word|check)|safety_(?:breach|violation|check)/i,
  ],
  ["protocol", /^unsupported_api_for_model$/],
  ["channel", /^get_channel_failed$/],
  [
    "quota",
    /insufficient_(?:\w+_)?(?:quota|balance|credits?|funds)|quota_exhausted|^billing_|(?:budget|spend(?:ing)?_limit)_exceeded|overdue|token_quota_failed|exceeded_current_quota|credit_balance|^Arrearage$|^AccountQuotaExceeded$|usage_(?:limit_(?:reached|exceeded)|not_included)|FreeTierOnly$|payment_required|UsageLimit(?:Error|Exceeded|Reached)?$|PerDay|^SetLimitExceeded$|^(?:1113|1304|1308|1309|1310|1311|1313)$/i,
  ],
  [
    "account",
    /account_(?:deactivated|suspended)|CONSUMER_SUSPENDED|organization_restricted|^11(?:10|11|12|20|21)$/,
  ],
  [
    "permission",
    /unsupported_country|permission[-_]?(?:denied|error)|^(?:SERVICE_DISABLED|API_KEY_\w+_BLOCKED|FAILED_PRECONDITION|BILLING_DISABLED|1220)$|_(?:terms_required|permission_blocked|access_denied)|^(?:request_)?forbidden(?:_error)?$|access_terminated|Access(?:Denied|Disabled)|NotOpen$/i,
  ],
  [
    "key",
    /(?:invalid|expired)_(?:api_)?key|invalid_authentication|auth_?fail|failed_to_auth|^(?:authentication_error|API_KEY_INVALID|InvalidApiKey|UNAUTHENTICATED|no_db_connection)$/i,
  ],
  [
    "model",
    /^(?:model_(?:not_found|not_available|not_supported|decommissioned)|(?:invalid|unknown|unavailable|unsupported)_?model|1211|1221)$|\w\.?NotFound|^InvalidEndpoint/i,
  ],
  ["path", /(?<!response_)not_found|unknown_url|^NOT_?FOUND$/i],
  ["limit", /rate_?limit|too_many_requests|^RESOURCE_EXHAUSTED$|^Throttling|slow_down/i],
  ["server", /overloaded|^(?:server_error|api_error|internal_error|UNAVAILABLE|INTERNAL)$|capacity_exceeded/],
  ["request", /^(?:invalid_?(?:request|argument|parameter)|bad_?request|context_?length)/i],
];
/** Names that services use for nearly everything; the message says more. */
const VAGUE: ReadonlySet<FailureKind | undefined> = new Set([undefined, "server", "request"]);

const NOT = "(?:not |n't |un|dis)(?:be )?(?:currently )?(?:support|enabl|allow|availab|accept|implement)";
/** An error about choosing a tool, or about its name, is something else. */
const TOOLS =
  "(?:tools?|functions?)(?:[ _-](?:use|usage|call(?:s|ing)?|param))?(?!\\w|[ _-]?(?:choice|names?\\b))";

/** The message of a service; a code takes precedence. */
const WORDS: readonly (readonly [FailureKind, RegExp])[] = [
  [
    "malformed_call",
    /failed to call a function|tool call validation failed|failed_generation|response did not respect the required format|(?:error|failed to) pars(?:e|ing) (?:tool.?call|function.?call|input at pos)/i,
  ],
  [
    "protocol",
    /only (?:supported|available) (?:in|with|via|through|on) (?:the )?\/?(?:v1\/)?responses|use (?:the )?\/?(?:v1\/)?responses\b|not (?:a chat model|accessible via the \/?(?:v1\/)?chat)|not supported (?:in|with) the \/?(?:v1\/)?chat\/completions|chat ?completion operation does not work/i,
  ],
  [
    "filtered",
    /content (?:filter|management|moderation|safety)|(?:violat|against|due to)[^.\n]{0,40}(?:usage|content) (?:guideline|polic)|content exists risk|considered high risk|blocked by (?:our )?safety|requires moderation|(?:input|content|prompt|request) (?:was|has been) flagged|inappropriate content|(?:unsafe|sensitive) (?:or sensitive )?(?:content|information)|sensitive (?:chat|words?|check)\b|_sensitive\b|不安全或敏感|敏感(?:词|内容|信息)|违规内容|内容(?:安全|审核)|\bcontent\b[^.\n]{0,50} blocked|for safety reasons/i,
  ],
  [
    "no_tools",
    new RegExp(
      `\\b${TOOLS}\\b["'\`]?[^.\\n'"\`:]{0,40}${NOT}|${NOT}\\w*[^.\\n]{0,40}\\b${TOOLS}\\b(?! ['"\`])|no endpoints found that support tool|requires? --(?:enable-auto-tool-choice|jinja)`,
      "i",
    ),
  ],
  [
    "quota",
    /(?:insufficient|not enough) (?:\w+ )?(?:balance|credit|fund|quota)|(?:balance|credits?|funds|quota) (?:\w+ ){0,2}(?:insufficient|not enough|too low|used up)|(?:need|requires?) (?:a )?positive balance|used up your (?:\w+ ){0,3}(?:allocation|allowance)|(?<!per )\b(?:hour|day|daily|week|month|subscription|individual)(?:ly)? (?:\w+ ){0,2}(?:quota|limit)[^.\n]{0,20}(?:exceeded|exhausted|reached|used up)|overdue|in arrears|account is in good standing|(?:out of|no|not enough|any) (?:more |remaining )?credits|credits? (?:balance )?(?:is |are |has been )?(?:too low|depleted|exhausted|used up|exceeded)|credit balance is too low|payment required|please (?:recharge|purchase)|(?:buy|purchase|top.?up) (?:more |your )?credits|(?:余额|额度|配额|余量|资源包)(?:不足|已?[用耗][尽完])|欠费|недостаточно средств|残高|잔액|saldo insuficiente|solde insuffisant|free (?:\w+ )?(?:trial|quota)[^.\n]{0,40}(?:exhausted|exceeded|used up|expired|ended)|(?:exhausted|exceeded|used up)[^.\n]{0,40}free (?:trial|quota)|key limit exceeded|requires more credits|can only afford|past due|all available credits|spend(?:ing)? limit|usage limits?\b[^.\n]{0,20}(?:reached|exceeded)|(?:hit|reached|exceeded) (?:the|your|its)[^.\n]{0,40}(?:usage|(?:\d-?hour|dai|week|month)\w*(?: \w+){0,2}) (?:limit|quota)|out of (?:\w+ ){0,3}(?:usage|quota)|payment (?:instrument|method)|credit card|预扣费|(?:budget (?:has been )?|crossed budget: )exceeded|(?:over|exceeded) ?budget/i,
  ],
  [
    "key",
    /(?:incorrect|invalid|wrong|expired|missing|malformed|revoked) (?:\w+ ){0,2}(?:api.?key|token\b|credential|authorization)|api.?key(?: \w+){0,3} (?:not valid|invalid|incorrect|expired|revoked|blocked|disabled|not found|not provided)|unregistered callers|no api.?key|not authenticated|security token[^.\n]{0,40}(?:expired|invalid)|login fail|(?:authentication|certification) failed|token (?:is |was |has |has been )?(?:not match|invalid|revoked|expired)|user not found|reported as leaked|^unauthorized\.?$/im,
  ],
  [
    "channel",
    /no available channels?\b|no available accounts? (?:supporting|for)|group only allows|无可用渠道|incorrect model id/i,
  ],
  // Services also call a model missing if the account has no access to it, in the same sentence.
  ["model", /(?:not|n't) (?:be )?(?:found|exist)\b[^\n]{0,80}\bor (?:you|permission|access)/i],
  [
    "account",
    /(?:account|project|organi[sz]ation|team|subscription|resource)\b[^.\n]{0,30}\b(?:suspended|frozen|deactivated|blocked|locked|inactive|not active|banned|has been disabled)|(?:用户|账[号户])[^。\n]{0,6}(?:封禁|冻结|停用)/i,
  ],
  [
    "permission",
    new RegExp(
      [
        "(?:country|region|location|territory)\\b[^.\\n]{0,40}(?:not |un)(?:supported|available|allowed)",
        "(?:not |un)(?:available|supported) in your (?:country|region|location)",
        "must be (?:verified|a member)|verify (?:your )?(?:organi[sz]ation|account|identity)|requires a subscription|please bind|unsupported (?:countr|region|territor|location)",
        "has not been used in project|(?:is|API|been) (?:disabled|deactivated)|firewall|NoAuthError",
        "terms acceptance|data policy|use case details|is gated|no (?:allowed|eligible) provider",
        "(?:not|n't) have (?:\\w+ ){0,2}(?:access|permissions?)\\b|\\bno access\\b(?! token)|missing scopes?",
        "(?:no|insufficient|lacks?(?: the)?(?: required)?) (?:permissions?|data action)|permissions?\\b[^\\n]{0,80}\\b(?:denied|required)|无权|未开通|允许访问的列表",
        "\\b(?:your|current) (?:\\w+ )?(?:subscription|plan)\\b(?! and billing)|blocked by [^.\\n]{0,30}policy|you are not (?:authorized|allowed|permitted)",
        "(?:has|have) not (?:yet )?(?:activated|agreed|accepted|enabled)|endpoint\\b[^\\n]{0,80} is not running",
        "not (?:authorized|allowed|permitted) (?:to (?:perform|use|access)|for (?:this|your) (?:account|organi[sz]ation|project|team|user|key|plan))",
        "access (?:is )?denied(?! due to)|operation (?:is )?not allowed|(?:request|you) (?:was|were|have been|has been) blocked",
        "(?:not (?:yet )?|un)available (?:for|to|on|with|in) (?:this |your |the )?(?:\\w+ ){0,2}(?:account|subscription|plan|tier)|restricted to authorized|only (?:available|authorized) (?:for|to)\\b|\\bIPs? (?:is|address(?:es)?|ranges?)\\b",
      ].join("|"),
      "i",
    ),
  ],
  [
    "lost_model",
    /model (?:has |is |was )?(?:crashed|unloaded)|degraded function|runner (?:process )?has (?:unexpectedly )?(?:stopped|terminated)/i,
  ],
  [
    "unfit_server",
    /jinja|(?:fail(?:ed|ure)|could not|unable) (?:to )?load(?:ing)? (?:the )?model|\btemplate: \S*:\d+:|(?:chat|prompt|for this).?template|template (?:error|exception)|out of memory|(?:more|insufficient|not enough) (?:system |gpu |video )?memory|failed to allocate/i,
  ],
  [
    "model",
    /^model: \S+$|^function '\S+': not found for account|deployment for this resource does not exist|\bmodels?\b(?:[^.\n]|\.(?! )){0,80}(?:not (?:found|exist|valid|available)|(?:identifier|id|name) is invalid|n't exist|no longer|decommissioned|deprecated)|(?:no such|unknown|invalid|unavailable|unsupported|not found the|non-serverless) model|\bmodel(?: [^\s.]+)? (?:is )?not supported|not a valid model|no models? (?:is |are )?loaded|model has not been loaded|inference profile|taken offline|model disabled|end of its life|allowed now, your model|no healthy deployments|模型不存在/im,
  ],
  [
    "path",
    /\b(?:could not|no|unknown) (?:request )?(?:route|handler|url)\b|invalid url|unexpected endpoint|page not found|cannot (?:post|get) \//i,
  ],
  [
    "limit",
    /(?:request|rate|qps|[rt]pm) limit (?:is |was )?(?:reached|exceeded)|\brate.?limit|rate increased too|too many requests|throttl(?:ed|ing)|过于频繁|频率(?:过高|限制)|限[流频]|qps ?overflow|并发[^。\n]{0,10}过高|负载已饱和/i,
  ],
  ["request", /^invalid (?:params?|parameters?|request)\b|^request validation failed/im],
];
/** Only where nobody says when it will be over. */
const SPENT = /(?:per[-_ ]?|\/ ?|By)(?:day|month)|daily|monthly|\b[RT]PD\b|tomorrow/i;
/** Where a limit of a minute would have another status. */
const USED_UP =
  /\b(?:quota|allowance)\b[^.\n]{0,40}\b(?:exhausted|used up|exceeded|reached|depleted)|exceeded[^.\n]{0,40}\bquota/i;
/** Under the name of a limit, with a hint beside it: a model that the plan does not have, money that is spent. */
const NO_SHARE =
  /\blimit(?: of|:| set to) 0\b|credits are depleted|(?:extra usage|usage credits are required)/i;
/** Names of no quota under which a service means tokens per minute. */
const PASSING_QUOTA = /error-code#token-limit/;
const OF_KEYS = /\bkey|token|credential|authenti|header|bearer|\blog.?in\b|password/i;
/** This single request is more than may be sent in a minute. */
const OVER_A_LIMIT =
  /request too large|(?:requested|input) tokens?[^.\n]{0,40}exceeds?[^.\n]{0,40}\bper.min/i;

/** The one place that decides what a failure is: by codes and types first, then by words, then by the status. */
export function readFailure(told: Told): ReadFailure {
  const { retryAfterMs = FAR_MS, shouldRetry } = told;
  const { codes, words } = saidIn(told.answer);
  const status = statusBehind(told.status, words);
  // What is over only much later is the limit of a day, or of a plan.
  const hasHint = retryAfterMs < FAR_MS;
  const coded = kindIn(CODES, codes);
  // Use, unlike money, comes back by itself.
  const isSoonOver =
    coded === "quota" && hasHint && codes.some((code) => /usage|quota_exhausted/i.test(code));
  const named = NO_SHARE.test(words) ? "quota" : isSoonOver || PASSING_QUOTA.test(words) ? "limit" : coded;
  const tooLong = tooLongOf({ ...told, status }, named, words);
  if (tooLong) return { kind: "context", isPassing: false, tooLong };
  const kind = named === "quota" ? "quota" : kindOf(status, named, { words, hasHint });
  const passes = PASSING.has(kind) && (kind !== "server" || isPassingStatus(status));
  const isFinal = kind === "quota" || kind === "malformed_call";
  return { kind, isPassing: isFinal ? passes : (shouldRetry ?? passes) };
}

const FAR_MS = 3_600_000;
/** How a gateway tells that the service behind it has refused the request, which would be refused again. */
const BEHIND =
  /(?:"(?:code|status)\w*\W{1,4}|\b(?:status(?: code)?|client error|error code)\W{1,3}|": |<)(400|413|422|429|40[134](?= - ))\b/i;

/** How a gateway tells, under a status for what is refused, that the service behind it failed. */
const FAULT_BEHIND = /\[server_error\]|upstream request failed: (?:model|endpoint) is unavailable/i;

function statusBehind(status: number, words: string): number {
  if ((status === 400 || status === 403) && FAULT_BEHIND.test(words)) return 502;
  if (status === 404 && /\b(?:item|response) with id\b/i.test(words)) return 400;
  if (status !== 424 && status < 500) return status;
  return /API_KEY is not set/.test(words) ? 401 : Number(BEHIND.exec(words)?.[1] ?? status);
}

const PASSING: ReadonlySet<FailureKind> = new Set(["limit", "lost_model", "malformed_call", "server"]);

function kindOf(
  status: number,
  named: FailureKind | undefined,
  { words, hasHint }: { readonly words: string; readonly hasHint: boolean },
): FailureKind {
  const said = kindIn(WORDS, [words]);
  const beats =
    said !== undefined &&
    said !== "limit" &&
    (VAGUE.has(named) || BETTER_KNOWN[said]?.includes(named ?? "server"));
  if (beats && fits(said, status, hasHint)) return said;
  if (status === 402 ? !hasHint : [401, 403].includes(status) && USED_UP.test(words)) return "quota";
  if (named === "account") return "account";
  if (named === "limit" || isLimit(status, said, hasHint))
    return !hasHint && SPENT.test(words) ? "quota" : "limit";
  if (named !== undefined && fits(named, status, hasHint)) return named;
  // The service refuses, in words of its own, and not because of the key.
  if (status === 403 && /(?:\w+\W+){4}\w/.test(words) && !OF_KEYS.test(words)) return "permission";
  return kindOfStatus(status);
}

function isLimit(status: number, said: FailureKind | undefined, hasHint: boolean): boolean {
  // Elsewhere the words of a limit may only be advice.
  const isSaid = said === "limit" ? [0, 400, 403, 503].includes(status) : said === "quota" && hasHint;
  return isSaid || status === 402 || status === 429;
}

/** Kinds for which the message is more reliable than the code it comes with. */
const BETTER_KNOWN: Partial<Record<FailureKind, readonly FailureKind[]>> = {
  protocol: ["model", "path"],
  no_tools: ["model", "path"],
  model: ["path"],
  account: ["model", "path", "key", "permission", "limit"],
  permission: ["model", "path", "key", "permission"],
  quota: ["permission", "account", "limit"],
  filtered: ["permission"],
  key: ["permission", "path"],
};

function fits(kind: FailureKind, status: number, hasHint: boolean): boolean {
  // A temporary limit also mentions the billing page.
  if (kind === "quota") return !hasHint;
  if (kind === "path" && status === 401) return false;
  if (["key", "model", "path", "permission"].includes(kind))
    return status < 500 && status !== 402 && status !== 429;
  if (["unfit_server", "lost_model", "no_tools", "protocol"].includes(kind))
    return status !== 429 && status !== 401;
  // A service may use one name for all of its refusals.
  if (kind === "server") return status >= 500 || status === 0;
  if (kind === "request")
    return status === 0 || (![401, 403, 404].includes(status) && !isPassingStatus(status));
  return true;
}

function kindOfStatus(status: number): FailureKind {
  if (status === 401) return "key";
  // Also a proxy, or a network, that wants a login of its own.
  if ([403, 407, 511].includes(status)) return "refused";
  if (status === 410) return "model";
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) return "path";
  return isPassingStatus(status) || status >= 500 ? "server" : "request";
}

function isPassingStatus(status: number): boolean {
  if ([0, 408, 409, 424, 425, 498, 499].includes(status)) return true;
  return status >= 500 && status !== 501 && status !== 505;
}

function tooLongOf({ status, answer }: Told, named: FailureKind | undefined, words: string) {
  const whole = typeof answer === "string" ? answer : `${JSON.stringify(answer)} ${words}`;
  if (named === "context") return tooLongIn(400, `${whole} context_length_exceeded`);
  if (OVER_A_LIMIT.test(words) && [0, 413, 429].includes(status)) {
    const limit = Number(/\blimit:? (\d+)/i.exec(words)?.[1]);
    return limit > 0 ? { contextWindow: limit } : {};
  }
  return VAGUE.has(named) ? tooLongIn(status || 400, whole) : undefined;
}

function kindIn(
  table: readonly (readonly [FailureKind, RegExp])[],
  texts: readonly string[],
): FailureKind | undefined {
  return table.find(([, pattern]) => texts.some((text) => pattern.test(text)))?.[0];
}

const CODE_KEYS = wordSet("code Code type status reason quotaId error error_code errorCode error_type");
const MOST_NODES = 500;

/** The short names and the sentences in a response, at any depth, also those of a service behind the service. */
function saidIn(answer: unknown): { readonly codes: readonly string[]; readonly words: string } {
  const codes: string[] = [];
  const words: string[] = [];
  const open: (readonly [string, unknown])[] = [["", answer]];
  for (let seen = 0; open.length > 0 && seen < MOST_NODES; seen += 1) {
    const [key, value] = open.shift() ?? ["", undefined];
    const inner = typeof value === "string" && /^\s*[[{]/.test(value) ? (parseJson(value) ?? value) : value;
    if (Array.isArray(inner)) open.push(...inner.map((item) => [key, item] as const));
    else if (isRecord(inner)) open.push(...Object.entries(inner));
    else if (typeof inner === "string" || typeof inner === "number") {
      const text = String(inner);
      open.push(["", jsonWithin(text)?.value]);
      if (CODE_KEYS.has(key) && /^[\w.-]{1,80}$/.test(text)) codes.push(text);
      else words.push(text);
    }
  }
  return { codes, words: words.join("\n") };
}

/** What a service behind a service has said, in the midst of a sentence. */
export function jsonWithin(text: string) {
  const start = text.search(/\{\s*"/);
  const end = start === -1 ? undefined : endOfJson(text.slice(start));
  const value = end === undefined ? undefined : parseJson(text.slice(start, start + end));
  return isRecord(value) && end !== undefined ? { start, end: start + end, value } : undefined;
}
