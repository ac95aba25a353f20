import { delimiter } from "node:path";
import { createWordSet, splitWords } from "@burin/contract/text/words";
import { splitPathFolders } from "./shell-program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables that are never passed on unless the user names them: keys of model services, and other well-known secrets.
 */
const SECRET_NAMES = new Set([
  ...splitWords(`
    OPENAI ANTHROPIC GEMINI GOOGLE GOOGLE_GENERATIVE_AI AZURE AZURE_OPENAI MISTRAL COHERE CO GROQ XAI
    DEEPSEEK OPENROUTER TOGETHER TOGETHERAI FIREWORKS PERPLEXITY PPLX CEREBRAS SAMBANOVA NVIDIA NVIDIA_NIM
    REPLICATE DASHSCOPE QWEN ZAI ZHIPU ZHIPUAI BIGMODEL MOONSHOT KIMI MINIMAX BAICHUAN ARK VOLCENGINE
    SILICONFLOW MODELSCOPE HUNYUAN STEPFUN AI21 ANYSCALE DEEPINFRA NOVITA HYPERBOLIC JINA VOYAGE TAVILY
    SERPER SERPAPI BRAVE BRAVE_SEARCH EXA FIRECRAWL LITELLM
  `).map((provider) => `${provider}_API_KEY`),
  ...splitWords(`
    ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN OPENAI_ACCESS_TOKEN CODEX_API_KEY AZURE_OPENAI_KEY
    AZURE_OPENAI_AD_TOKEN AZURE_CLIENT_SECRET AZURE_STORAGE_KEY AZURE_STORAGE_CONNECTION_STRING
    REPLICATE_API_TOKEN HF_TOKEN HUGGING_FACE_HUB_TOKEN HUGGINGFACE_API_KEY HUGGINGFACEHUB_API_TOKEN
    AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK GITHUB_TOKEN GH_TOKEN
    GH_ENTERPRISE_TOKEN GITHUB_PAT GITLAB_TOKEN GITLAB_PRIVATE_TOKEN CI_JOB_TOKEN BITBUCKET_TOKEN
    GITEA_TOKEN NPM_TOKEN NODE_AUTH_TOKEN YARN_NPM_AUTH_TOKEN PYPI_TOKEN TWINE_PASSWORD
    POETRY_PYPI_TOKEN_PYPI CARGO_REGISTRY_TOKEN RUBYGEMS_API_KEY GEM_HOST_API_KEY NUGET_API_KEY
    DOCKER_PASSWORD DOCKER_AUTH_CONFIG SLACK_TOKEN SLACK_BOT_TOKEN SLACK_APP_TOKEN DISCORD_TOKEN
    TELEGRAM_BOT_TOKEN STRIPE_SECRET_KEY STRIPE_API_KEY SENDGRID_API_KEY TWILIO_AUTH_TOKEN MAILGUN_API_KEY
    CLOUDFLARE_API_TOKEN CLOUDFLARE_API_KEY CF_API_TOKEN DIGITALOCEAN_TOKEN DIGITALOCEAN_ACCESS_TOKEN
    HEROKU_API_KEY VERCEL_TOKEN NETLIFY_AUTH_TOKEN FLY_API_TOKEN VAULT_TOKEN CONSUL_HTTP_TOKEN
    SENTRY_AUTH_TOKEN DATADOG_API_KEY DD_API_KEY DD_APP_KEY LINEAR_API_KEY NOTION_TOKEN NOTION_API_KEY
    JIRA_API_TOKEN SONAR_TOKEN CODECOV_TOKEN TF_TOKEN_APP_TERRAFORM_IO PULUMI_ACCESS_TOKEN SNYK_TOKEN
    DATABASE_PASSWORD PGPASSWORD MYSQL_PWD MYSQL_ROOT_PASSWORD POSTGRES_PASSWORD REDIS_PASSWORD SSHPASS
    SUDO_PASSWORD OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TRACES_HEADERS OTEL_EXPORTER_OTLP_METRICS_HEADERS
  `),
]);

/** Matches values that are secrets, whatever their variable is called. Each pattern begins with its issuer's prefix. */
export const SECRET_VALUES: readonly RegExp[] = [
  /\bsk-(?:ant-|proj-|or-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}/,
  /\bAIza[0-9A-Za-z_-]{35}\b/,
  /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})/,
  /\bgl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|oas|soat)-[A-Za-z0-9_-]{20,}/,
  /\bx(?:ox[abeoprs]|app-\d)-[A-Za-z0-9-]{10,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  // Identifiers in code can begin like these prefixes.
  /\b(?:hf|r8|gsk|sgp(?:_local|_[0-9a-f]{16})?|tfp|sbp|ntn|lin_api|do[opr]_v1|sntryu|rubygems|shp(?:at|ca|pa|ss))_[A-Za-z0-9]{27,}/,
  /\b(?:xai|pplx|csk|NRAK)-[A-Za-z0-9]{27,}/,
  /\b(?:fo1|glsa|figd|sntrys|dckr_pat|pscale_(?:tkn|pw|oauth))_[A-Za-z0-9_.=-]{27,}/,
  /\b(?:nvapi|tvly|PMAK|HRKU|xkeysib)-[A-Za-z0-9_-]{27,}/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bpypi-[A-Za-z0-9_-]{50,}/,
  /\b(?:(?:hv[sb]|ya29|AQ)\.[A-Za-z0-9_-]{30,}|ABSK[A-Za-z0-9+/]{40,}|dapi[0-9a-f]{32})/,
  /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /\beyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];

/**
 * Variables that make a shell, git or a common program do something other than its words say: run a file first, write a
 * trace, search another place. Commands are judged by their words, so they start without these.
 */
const CHANGES_MEANING = createWordSet(`
    BASH_ENV ENV SHELLOPTS BASHOPTS BASH_COMPAT POSIXLY_CORRECT BASH_XTRACEFD PS4 CDPATH PROMPT_COMMAND
    GLOBIGNORE EXECIGNORE IFS HISTFILE ZDOTDIR LD_PRELOAD LD_AUDIT LD_PROFILE LD_DEBUG_OUTPUT
    DYLD_INSERT_LIBRARIES GCONV_PATH LESSOPEN LESSCLOSE TAR_OPTIONS GREP_OPTIONS RIPGREP_CONFIG_PATH TAPE
    _POSIX2_VERSION AWKPATH AWKLIBPATH BLOCK_SIZE PERL5OPT PERL5DB
`);

/** The harmless variables of git. All others change where git works, or run programs. */
const HARMLESS_GIT_VARIABLES = createWordSet(`
  GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
  GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_ASKPASS GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
  GIT_CONFIG_NOSYSTEM GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_LFS_SKIP_SMUDGE
  GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_MERGE_AUTOEDIT`);
/** Matches variables that say how git talks to other machines. */
const GIT_TRANSPORT = /^GIT_(?:(?:SSL|HTTP)_\w+|PROTOCOL\w*)$/;

/** Exported shell functions, which bash would run instead of programs. */
const EXPORTED_FUNCTION = /^BASH_FUNC_|^__BASH_FUNC</;

/** Channels that a parent process opened for Burin alone; they would mislead a child. */
const BURIN_CHANNELS = new Set(["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID"]);

export interface EnvironmentRules {
  /** Variables that are passed on even if they look like secrets, because the user named them. */
  readonly pass: readonly string[];
  /** The variable that the settings name for the model's key; secret by name, like the well-known ones. */
  readonly secret: readonly string[];
  /** Folders whose programs are found last, so that a project cannot replace `ls` with its own. */
  readonly roots?: readonly string[];
}

/**
 * Builds the environment of a command: without secrets and without variables that change a command's meaning, with
 * pagers off, and marked so that programs can recognize Burin.
 */
export function buildChildEnvironment(
  environment: Environment,
  rules: EnvironmentRules,
): Record<string, string> {
  const cleaned: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || BURIN_CHANNELS.has(name)) continue;
    const isKept = !isBehaviorVariable(name) && classifySecret(name, value, rules.secret) === null;
    if (isKept || rules.pass.includes(name)) cleaned[name] = value;
  }
  const paths = mapCodePaths(cleaned, (path) => orderSearchPath(path, rules.roots ?? []));
  return { ...cleaned, ...paths, PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", BURIN: "1" };
}

function isBehaviorVariable(name: string): boolean {
  if (name.startsWith("GIT_")) return !HARMLESS_GIT_VARIABLES.has(name) && !GIT_TRANSPORT.test(name);
  return CHANGES_MEANING.has(name) || EXPORTED_FUNCTION.test(name);
}

/**
 * Variables that list folders in which programs or their libraries are found. An empty name stands for the current
 * folder.
 */
const CODE_PATHS = splitWords(
  "PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH PERL5LIB PERLLIB",
);

/** Returns the code path variables of an environment, each with `change` applied. */
export function mapCodePaths(
  environment: Environment,
  change: (path: string) => string,
): Record<string, string> {
  const found = CODE_PATHS.flatMap((name) => {
    const path = environment[name];
    return path === undefined ? [] : [[name, change(path)] as const];
  });
  return Object.fromEntries(found);
}

/** A package runner puts the project's own folder first, and a careless profile the current folder. */
function orderSearchPath(path: string, roots: readonly string[]): string {
  const { own, others } = splitPathFolders(path, roots);
  return [...others, ...own].join(delimiter);
}

/**
 * Matches a variable's name that says that the value is secret, unlike `KEYBOARD`, `GPG_TTY` or
 * `TOKENIZERS_PARALLELISM`.
 */
const SOUNDS_SECRET =
  /(?:^|_)(?:KEY|APIKEY|TOKEN|AUTH_?TOKEN|SECRET|PASS|PWD|PASSPHRASE|PAT|AUTH)$|PASSWORD|PASSWD|CREDENTIAL|(?:^|_)SECRET_/;
/** Matches names that only look like names of secrets: public keys, and the keys of tables and caches. */
const SOUNDS_HARMLESS =
  /^(?:OLD)?PWD$|^GPG_KEY$|PUBLIC|PUBLISHABLE|(?:^|_)(?:PRIMARY|SORT|PARTITION|FOREIGN|CACHE|COMPOSE|META)_KEY$/;
/** Matches values that are no secrets: a path, a switch or a number. */
const NO_SECRET_VALUE = /^(?:|~?\.{0,2}\/.*|[A-Za-z]:\\.*|true|false|yes|no|on|off|none|null|\d{1,5})$/i;
/** Matches the password in a URL, up to the last "@" before its path. */
const URL_PASSWORD =
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"'<>]{0,200}:)(?!\d{1,5}[?#])([^\s/"'<>\\]{1,300})(?=@)/gi;
/** Matches a token in place of the user's name. */
const URL_TOKEN = /(?<=:\/\/)(?=[\w-]*\d)[\w-]{20,300}(?=@)/g;
/** Placeholders for passwords in documentation. */
const PASSWORD_PLACEHOLDER = /^(?:[$%{[].*|\*+|x+|\.+|pass|passwd|password|pwd|pw|secret)$/i;

/** Replaces each password in a URL with a mark. */
export function maskPasswords(text: string): string {
  if (!text.includes("://")) return text;
  const mark = "[redacted: password]";
  return text
    .replace(URL_PASSWORD, (whole, before: string, password: string) =>
      PASSWORD_PLACEHOLDER.test(password) ? whole : before + mark,
    )
    .replace(URL_TOKEN, mark);
}

/** `known`: a secret by a well-known name or by its form; `likely`: by its name. */
export function classifySecret(
  name: string,
  value: string,
  more: readonly string[],
): "known" | "likely" | null {
  const upper = name.toUpperCase();
  if (SECRET_NAMES.has(upper) || more.includes(name)) return "known";
  if (SECRET_VALUES.some((pattern) => pattern.test(value)) || maskPasswords(value) !== value) return "known";
  const isLikely = SOUNDS_SECRET.test(upper) && !SOUNDS_HARMLESS.test(upper) && !NO_SECRET_VALUE.test(value);
  return isLikely ? "likely" : null;
}
