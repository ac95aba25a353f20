import type { ModelSettings } from "@burin/contract/settings/settings";
import { describe, expect, it } from "vitest";
import { chooseModel } from "./choose-model.ts";

describe("chooseModel", () => {
  it.each([
    ["nothing", {}, {}, null],
    [
      "only a key: the general model of its service",
      {},
      { OPENAI_API_KEY: "k" },
      {
        provider: "openai",
        name: "gpt-6-sol",
        baseUrl: "https://api.openai.com/v1",
        apiKey: "k",
        isGeneral: true,
      },
    ],
    [
      "a key for another address without a model",
      {},
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://x/v1" },
      null,
    ],
    ["a model without a service", {}, { OPENAI_MODEL: "m" }, null],
    [
      "a key and a model",
      {},
      { OPENAI_API_KEY: "k", OPENAI_MODEL: "m" },
      { provider: "openai", name: "m", baseUrl: "https://api.openai.com/v1", apiKey: "k" },
    ],
    [
      "a local server, no key",
      {},
      { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_MODEL: "m" },
      { provider: "openai", name: "m", baseUrl: "http://127.0.0.1:1/v1" },
    ],
    [
      "settings before environment",
      { name: "s", baseUrl: "http://s/v1", apiKeyEnv: "OTHER" },
      { OPENAI_API_KEY: "k", OPENAI_MODEL: "m", OTHER: "o" },
      { provider: "openai", name: "s", baseUrl: "http://s/v1", apiKey: "o" },
    ],
    [
      "Anthropic by its own variables",
      {},
      { ANTHROPIC_API_KEY: "a", ANTHROPIC_MODEL: "claude-x" },
      { provider: "anthropic", name: "claude-x", baseUrl: "https://api.anthropic.com", apiKey: "a" },
    ],
    [
      "Gemini at another address, no key",
      {},
      { GEMINI_BASE_URL: "http://g", GEMINI_MODEL: "m" },
      { provider: "gemini", name: "m", baseUrl: "http://g" },
    ],
    [
      "a named provider with the model of the environment",
      { provider: "anthropic" },
      { OPENAI_API_KEY: "k", OPENAI_MODEL: "m", ANTHROPIC_API_KEY: "a", ANTHROPIC_MODEL: "c" },
      { provider: "anthropic", name: "c", baseUrl: "https://api.anthropic.com", apiKey: "a" },
    ],
    [
      "a provider before the name",
      { name: "gemini/gemini-x" },
      { GEMINI_API_KEY: "g", OPENAI_API_KEY: "k" },
      {
        provider: "gemini",
        name: "gemini-x",
        baseUrl: "https://generativelanguage.googleapis.com",
        apiKey: "g",
      },
    ],
    [
      "a provider before the name, over the one of the settings",
      { provider: "anthropic", baseUrl: "http://a", apiKeyEnv: "A", name: "openai-responses/gpt" },
      { OPENAI_API_KEY: "k", A: "a" },
      { provider: "openai-responses", name: "gpt", baseUrl: "https://api.openai.com/v1", apiKey: "k" },
    ],
    [
      "a maker before the name at a service of many makers",
      { name: "anthropic/claude-x" },
      { OPENAI_BASE_URL: "http://many/v1", ANTHROPIC_API_KEY: "a" },
      { provider: "openai", name: "anthropic/claude-x", baseUrl: "http://many/v1" },
    ],
    [
      "a maker that is no provider",
      { name: "org/model" },
      { OPENAI_API_KEY: "k" },
      { provider: "openai", name: "org/model", baseUrl: "https://api.openai.com/v1", apiKey: "k" },
    ],
    [
      "a name that says whose it is",
      { name: "claude-x" },
      { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "a" },
      { provider: "anthropic", name: "claude-x", baseUrl: "https://api.anthropic.com", apiKey: "a" },
    ],
    ["a name that says whose it is, without that key", { name: "claude-x" }, { OPENAI_API_KEY: "k" }, null],
    [
      "the same at a service of many makers",
      { name: "claude-x" },
      { OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "r" },
      { service: "openrouter", name: "claude-x", apiKey: "r" },
    ],
    [
      "a name that says whose it is, among the keys of others",
      { name: "grok-x" },
      { OPENAI_API_KEY: "k", XAI_API_KEY: "x" },
      { service: "xai", name: "grok-x", apiKey: "x" },
    ],
    [
      "a name that says whose it is, and another address",
      { name: "claude-x" },
      { OPENAI_BASE_URL: "http://many/v1", ANTHROPIC_API_KEY: "a" },
      { provider: "openai", baseUrl: "http://many/v1", passedOver: "anthropic" },
    ],
    [
      "P54 an empty address, as a variable of a CI job that is not set",
      {},
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "", OPENAI_MODEL: "m" },
      { name: "m", baseUrl: "https://api.openai.com/v1" },
    ],
    [
      "P54 an empty region beside another that is set",
      { name: "bedrock/m" },
      { AWS_BEARER_TOKEN_BEDROCK: "b", AWS_REGION: "", AWS_DEFAULT_REGION: "eu-west-1" },
      { baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1" },
    ],
    [
      "P54 an empty location",
      { name: "vertex/m" },
      { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "", GOOGLE_VERTEX_TOKEN: "v" },
      {
        baseUrl: "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
      },
    ],
    [
      "the longest silence",
      { timeoutSeconds: 7 },
      { OPENAI_BASE_URL: "http://l/v1", OPENAI_MODEL: "m" },
      { provider: "openai", name: "m", baseUrl: "http://l/v1", silenceMs: 7000 },
    ],
  ] as [string, ModelSettings, NodeJS.ProcessEnv, unknown][])(
    "%s",
    (...[, settings, environment, wanted]) => {
      expect(chooseModel({ model: settings }, environment)).toEqual(
        wanted === null ? null : expect.objectContaining(wanted),
      );
    },
  );
});
