import { describe, expect, it } from "vitest";
import { childEnvironment } from "./child-environment.ts";

const none = { pass: [], secret: [] };

describe("childEnvironment", () => {
  it.each([
    ["OPENAI_API_KEY", "x"],
    ["ANTHROPIC_API_KEY", "x"],
    ["GEMINI_API_KEY", "x"],
    ["DASHSCOPE_API_KEY", "x"],
    ["openrouter_api_key", "x"],
    ["AWS_SECRET_ACCESS_KEY", "x"],
    ["GITHUB_TOKEN", "x"],
    ["NPM_TOKEN", "x"],
    ["PGPASSWORD", "x"],
    ["HARMLESS", `sk-ant-${"a".repeat(30)}`],
    ["HARMLESS", `sk-proj-${"A1".repeat(20)}`],
    ["HARMLESS", `AIza${"b".repeat(35)}`],
    ["HARMLESS", `github_pat_${"c".repeat(60)}`],
    ["HARMLESS", `glpat-${"d".repeat(20)}`],
    ["HARMLESS", "xoxb-1234567890-abcdef"],
    ["HARMLESS", "AKIAIOSFODNN7EXAMPLE"],
    ["HARMLESS", `--token=hf_${"e".repeat(34)}`],
    ["HARMLESS", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"],
    ["HARMLESS", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop"],
    ["NODE_CHANNEL_FD", "3"],
  ])("P19 leaves out %s=%s", (name, value) => {
    expect(childEnvironment({ [name]: value, PATH: "/bin" }, none)).not.toHaveProperty(name);
  });

  it.each([
    ["PATH", "/bin:/usr/bin"],
    ["KEYBOARD", "us"],
    ["STORAGE_KEY_PREFIX", "app"],
    ["TOKENIZERS_PARALLELISM", "false"],
    ["XKB_KEYMAP", "de"],
    ["SSH_AUTH_SOCK", "/tmp/agent"],
    ["GPG_KEY", "E3FF2839C048B25C084DEBE9B26995E310250568"],
    ["PYTHON_SHA256", "a".repeat(64)],
    ["HTTPS_PROXY", "http://proxy.example:3128"],
    ["EMPTY", ""],
    ["MULTI", "a\nb"],
    ["TASK", "sk-short and risk-averse-but-otherwise-fine"],
  ])("P19 keeps the harmless %s=%s", (name, value) => {
    expect(childEnvironment({ [name]: value }, none)).toHaveProperty(name, value);
  });

  it("P19 what the person names is handed on, what settings name as the model's key is not", () => {
    const environment = { OPENAI_API_KEY: "x", MY_KEY: "y", MY_VARIABLE: "z" };
    const cleaned = childEnvironment(environment, { pass: ["OPENAI_API_KEY"], secret: ["MY_KEY"] });
    expect(cleaned).toMatchObject({ OPENAI_API_KEY: "x", MY_VARIABLE: "z" });
    expect(cleaned).not.toHaveProperty("MY_KEY");
  });

  it("switches pagers and questions off and marks the child", () => {
    const marks = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", BURIN: "1" };
    expect(childEnvironment({ PAGER: "less" }, none)).toEqual(marks);
  });
});
