import type { ModelFailure } from "@burin/contract/chat-model";
import { collectSchemas, mapInnerSchemas } from "@burin/contract/messages/inner-schemas";
import type { JsonSchema } from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import type { ModelProvider } from "@burin/contract/settings/settings";
import { createWordSet } from "@burin/contract/text/words";
import type { Lessons } from "../request/lessons.ts";
import type { PreparedRequest } from "../request/prepare-request.ts";
import { findQuirk } from "../request/quirks.ts";
import { EFFORTS, MAX_OUTPUT_TOKENS, resolveEffort } from "../request/tuning.ts";
import { FOREIGN_SIGNATURES, matchesAny, readOutputLimit, TOO_MANY_MEDIA } from "./refusal-words.ts";

export interface LessonContext {
  readonly lessons: Lessons;
  readonly sent: PreparedRequest;
  readonly model: string;
  readonly protocol: ModelProvider;
}

/** Statuses with which a service rejects the request itself. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 413, 415, 422, 424]);
/** Statuses with which a model or its chat template may reject the request. */
const FAULTS: ReadonlySet<number | undefined> = new Set([404, 500, 501, 503]);
const OTHER_FAULTS: ReadonlySet<string> = new Set(["quota", "rate_limited", "unauthorized", "forbidden"]);

/** Learns from a refusal. Returns a notice for the user, which may be empty; undefined if it teaches nothing. */
export function learnFromRefusal(
  lesson: LessonContext,
  { status, type, message, contextWindow }: ModelFailure,
  refusal: string | undefined,
): string | undefined {
  // A stream has no status, only the message. A null in it says nothing about the request.
  const reason = (refusal ?? message).replace(/(?<!\\)\\*"\w+\\*"\s*:\s*null\b/g, "");
  // OpenRouter requires credit for the longest possible reply in advance.
  const affordable = Number(/can only afford (\d+)/.exec(reason)?.[1]);
  if (affordable >= MIN_OUTPUT) return learnOutputLimit(lesson, affordable, Number.POSITIVE_INFINITY);
  if (OTHER_FAULTS.has(type) && !/reasoning summar/i.test(reason)) return undefined;
  const isRefusal = type === "bad_request" || (refusal !== undefined && REFUSALS.has(status));
  const isTooLarge = status === 413;
  if (type === "context_length" && !isTooLarge) return learnOutputLimit(lesson, (contextWindow ?? 0) / 4);
  if (!isRefusal && !FAULTS.has(status)) return undefined;
  const tryLearnQuirk = () => learnQuirk(lesson, isRefusal, reason);
  // Behind some gateways every request uses another key. Then send no reasoning back at all, if that is known to help.
  const isAgain = lesson.protocol === "openai-responses" && lesson.lessons.hasForeignSignatures;
  return (
    learnImages(lesson, reason) ??
    (isAgain ? tryLearnQuirk() : undefined) ??
    learnSignatures(lesson, reason) ??
    learnOutputLimit(lesson, readOutputLimit(reason)) ??
    learnEffort(lesson, reason) ??
    tryLearnQuirk() ??
    (isRefusal ? (learnTool(lesson, reason) ?? learnMedia(lesson, isTooLarge, reason)) : undefined)
  );
}

const IMAGES = "(?:images?|vision|multi-?modal|visual|image_url)";
const NO_IMAGES = new RegExp(
  [
    `\\b${IMAGES}\\b[^.\\n]{0,60}(?:not |n't |un)(?:be )?(?:currently )?(?:support|enabl|accept|allow|availab)`,
    `(?:not |n't |un)(?:a |be |currently )*(?:support|accept|process|multi)[^.\\n]{0,40}${IMAGES}`,
    "not a multi-?modal",
    "no endpoints found that support image",
    "missing data required for image",
    "at most 0 image",
    "image_url is only supported by",
    "can only concatenate str|'array' not in 'string'",
    "unknown variant .?image_url",
    "content\\b[^\\n]{0,60}(?:must|should) be (?:a )?(?:valid )?string",
    "content\\.type[^\\n]{0,40}allowed values",
    "mmproj",
  ].join("|"),
  "i",
);
/** In that case only this image is at fault, and others may be accepted. */
const ONE_PICTURE =
  /format|media.?type|mime|corrupt|could not process|uploaded|dimension|pixels|too (?:large|small|many)/i;

function learnImages({ lessons, sent, model }: LessonContext, reason: string) {
  if (!NO_IMAGES.test(reason) || ONE_PICTURE.test(reason)) return undefined;
  if (lessons.showsNoImages || !lessons.hasOnlyNewImages(sent.history)) return undefined;
  lessons.showsNoImages = true;
  return `The model ${model} cannot see images; it gets a line of text in place of each.`;
}

/**
 * Learns that the service rejects signatures of another service. The model keeps thinking, and new thoughts are sent
 * back.
 */
function learnSignatures({ lessons, sent }: LessonContext, reason: string) {
  return matchesAny(FOREIGN_SIGNATURES, reason) && lessons.noteRefusedSignatures(sent.history)
    ? ""
    : undefined;
}

/** With a smaller limit than this, no useful work is possible. */
const MIN_OUTPUT = 1000;

/** Lowers the limit of a reply to the one that the refusal names. */
function learnOutputLimit(
  { lessons, sent, model, protocol }: LessonContext,
  max: number,
  given = protocol === "anthropic" ? MAX_OUTPUT_TOKENS : 0,
): string | undefined {
  if (!(max >= 1 && max < (sent.tuning?.maxOutput ?? given))) return undefined;
  lessons.maxServiceOutput = Math.floor(max);
  return `A reply of the model ${model} may have only ${lessons.maxServiceOutput} tokens; it is asked for no more.`;
}

const OF_EFFORT = /effort|\blevels?\b|reasoning|thinking|supported values are/i;
/** Matches a list of allowed efforts: these words one after the other. */
const EFFORT_LIST = new RegExp(`(?:\\b(?:${EFFORTS.join("|")})\\b(?:\\W|\\band\\b|\\bor\\b)*){2,}`, "i");

/** Learns the highest effort that the model has and that does not exceed the requested one; otherwise its lowest. */
function learnEffort({ lessons, sent, model }: LessonContext, reason: string): string | undefined {
  const { reasoning } = sent.tuning ?? {};
  const asked = reasoning === undefined ? -1 : EFFORTS.indexOf(resolveEffort(reasoning));
  const list = OF_EFFORT.test(reason) ? EFFORT_LIST.exec(reason)?.[0] : undefined;
  const words = list?.match(/[a-z]+/gi) ?? [];
  const places = words.map((word) => EFFORTS.indexOf(word.toLowerCase())).filter((place) => place >= 0);
  if (asked < 0 || places.length === 0 || places.includes(asked)) return undefined;
  const lower = places.filter((place) => place < asked);
  lessons.effort = EFFORTS[lower.length > 0 ? Math.max(...lower) : Math.min(...places)];
  return `The model ${model} does not know the effort "${EFFORTS[asked]}"; it works with "${lessons.effort}".`;
}

/** Words of a chat template, which reports what it does not accept as a server error. */
const TEMPLATE = /template|jinja|\broles?\b|alternate/i;

function learnQuirk({ lessons, sent, model, protocol }: LessonContext, isRefusal: boolean, reason: string) {
  if (!isRefusal && !TEMPLATE.test(reason)) return undefined;
  const quirk = findQuirk(protocol, reason, lessons.quirks);
  const option = quirk?.startsWith("without:") ? quirk.slice("without:".length) : undefined;
  if (quirk === undefined || (option !== undefined && !sent.tuning)) return undefined;
  lessons.quirks.add(quirk);
  return option === undefined
    ? ""
    : `The model ${model} refuses the option ${option}; the work goes on without it.`;
}

const DESCRIPTION = /\.description\b[^\n]{0,80}\bmaximum length (\d+)/i;
const TOO_MANY = /\btools\b\W[^\n]{0,40}(?:array too long|number of (?:items|tools))\D{0,60}(\d+)/i;

function learnTool({ lessons, sent }: LessonContext, reason: string) {
  const longest = Number(DESCRIPTION.exec(reason)?.[1]);
  if (longest < lessons.maxDescription) {
    lessons.maxDescription = longest;
    return "";
  }
  const max = Number(TOO_MANY.exec(reason)?.[1]);
  const spare = max > 0 ? sent.tools.slice(max) : [];
  for (const { name } of spare) lessons.tools.add(sent.ownName(name));
  if (spare.length > 0)
    return `The model's service takes ${max} tools; the last ${spare.length} are left out.`;
  const named = findRefusedTool(sent, reason);
  if (learnRefusedKeywords({ lessons, sent }, reason, named)) return "";
  if (named === undefined) return undefined;
  const tool = sent.ownName(named.name);
  lessons.tools.add(tool);
  return `The model's service refused the tool ${tool}; the work goes on without it.`;
}

type Tool = PreparedRequest["tools"][number];

/**
 * Removes keywords from the tools' schemas: those that the refusal names; else those that only narrow one tool's
 * arguments; then all but the core. Returns whether any was removed.
 */
function learnRefusedKeywords(
  { lessons, sent }: Pick<LessonContext, "lessons" | "sent">,
  reason: string,
  named: Tool | undefined,
): boolean {
  const isOfSchema = OF_SCHEMA.test(reason);
  const candidates = named ? [named] : isOfSchema ? sent.tools : [];
  lessons.strip = removeKeywords;
  const dropKeywords = (keywordsOf: (schema: JsonSchema) => readonly string[]) => {
    let isNew = false;
    for (const { name, parameters } of candidates)
      for (const keyword of keywordsOf(parameters))
        isNew = lessons.noteRefusedKeyword(sent.ownName(name), keyword) || isNew;
    return isNew;
  };
  if (dropKeywords((schema) => findRefusedKeywords(reason, schema))) return true;
  if (named === undefined || !isOfSchema) return false;
  return (
    dropKeywords((schema) => listKeywords(schema).filter((keyword) => !CHOICES.has(keyword))) ||
    dropKeywords(listKeywords)
  );
}

/** Matches a refusal of the form of a tool's parameters, rather than of the tool. */
const OF_SCHEMA = /schema|grammar|keyword|format\b|parameters|properties|\bcontext=/i;

function findRefusedTool({ tools }: PreparedRequest, reason: string) {
  const place = /function_?declarations\[(\d+)\]/i.exec(reason) ?? /\btools[.[](\d+)\b/.exec(reason);
  const named = tools.find(({ name }) => new RegExp(`["'\`]${name}\\\\*["'\`]`).test(reason));
  return named ?? (place ? tools[Number(place[1])] : undefined);
}

const MEDIA_WORDS =
  /image|media|\bdocuments?\b|pdf|inline_?data|mime|vision|multimodal|file_data|input_file/i;

/** Learns to leave out media: if a request with media is too large, they are the reason, whatever reports it. */
function learnMedia({ lessons, sent }: LessonContext, isTooLarge: boolean, reason: string) {
  const files =
    isTooLarge || MEDIA_WORDS.test(reason)
      ? lessons.noteRefusedMedia(sent.history, matchesAny(TOO_MANY_MEDIA, reason))
      : 0;
  if (files === 0) return undefined;
  const what = files === 1 ? "a file" : `${files} files`;
  return `The model's service refused ${what}; the work goes on without.`;
}

/** Some services only say that a keyword failed or, like llama.cpp, the grammar made from all tools. */
const UNNAMED = /\bgrammar\b|schema conversion failed|unsupported.?keyword|\bregex\b/i;
const NARROWING = createWordSet(
  "pattern format minLength maxLength minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum",
);

/** Without these keywords a schema no longer describes the arguments; all others only narrow it. */
const CORE: ReadonlySet<string> = new Set(["type", "properties", "required", "items", "description"]);
/** These keywords narrow a schema most, so they are removed last. */
const CHOICES = createWordSet("enum const anyOf oneOf allOf");

function listKeywords(schema: JsonSchema): string[] {
  const used = new Set(collectSchemas(schema).flatMap(Object.keys));
  return [...used].filter((keyword) => !CORE.has(keyword));
}

/** Whether a refusal names a format of the schema, as services do that know only some. */
function mentionsFormatKeyword(reason: string, schema: JsonSchema): boolean {
  if (!/format/i.test(reason)) return false;
  return collectSchemas(schema).some(
    ({ format }) => typeof format === "string" && new RegExp(`(?<![\\w-])${format}(?![\\w-])`).test(reason),
  );
}

/** Returns the keywords that a refusal names: in quotes, at a path's end, or by a name that is not a usual word. */
function findRefusedKeywords(reason: string, schema: JsonSchema): string[] {
  return listKeywords(schema).filter((keyword) => {
    if (keyword === "format" && mentionsFormatKeyword(reason, schema)) return true;
    if (NARROWING.has(keyword) && UNNAMED.test(reason)) return true;
    const name = keyword.replace(/[^\w]/g, "\\$&");
    const isOwnWord = /[A-Z$]/.test(keyword);
    const pattern = isOwnWord
      ? `(?<![\\w$])${name}(?!\\w)`
      : `['"\`]${name}['"\`]|[./]${name}(?![\\w.])|\\bkeyword:? ${name}(?!\\w)`;
    return new RegExp(pattern).test(reason);
  });
}

function removeKeywords(schema: JsonSchema, keywords: ReadonlySet<string>): JsonSchema {
  const stripKeywords = (inner: unknown): unknown => {
    if (!isRecord(inner)) return inner;
    const kept = Object.entries(inner).filter(([keyword]) => !keywords.has(keyword));
    return mapInnerSchemas(Object.fromEntries(kept), stripKeywords);
  };
  return stripKeywords(schema) as JsonSchema;
}
