import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { findGit } from "../src/git/git-repository.ts";
import { buildChildEnvironment } from "../src/processes/child-environment.ts";

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
    ["DATABASE_URL", "postgres://ada:hunter2@db.example/x"],
    ["ANYTHING", "redis://:hunter2@cache.example:6379"],
    ["HTTPS_PROXY", "http://ada:hunter2@proxy.example:3128"],
    ["MY_PASSWORD", "hunter2"],
    ["my_password", "hunter2"],
    ["PASSWORD_OF_ADA", "hunter2"],
    ["SMTP_PASS", "hunter2"],
    ["SIGNING_KEY", "abcdef"],
    ["DEPLOY_TOKEN", "abcdef"],
    ["SESSION_SECRET", "abcdef"],
    ["SECRET_KEY_BASE", "abcdef"],
    ["AZURE_CREDENTIALS", '{"clientSecret":"x"}'],
    ["npm_config_//registry.example/:_authToken", "abcdef"],
  ])("P19 leaves out %s=%s", (name, value) => {
    expect(buildChildEnvironment({ [name]: value, PATH: "/bin" }, none)).not.toHaveProperty(name);
  });

  it.each(
    [
      ..."BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH PROMPT_COMMAND PS4 POSIXLY_CORRECT LD_PRELOAD LD_AUDIT".split(
        " ",
      ),
      ..."DYLD_INSERT_LIBRARIES LESSOPEN TAR_OPTIONS RIPGREP_CONFIG_PATH GREP_OPTIONS".split(" "),
      ..."GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_EXTERNAL_DIFF GIT_TRACE GIT_CONFIG_COUNT".split(" "),
      ..."GIT_CONFIG_KEY_0 GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_PROXY_COMMAND BASH_FUNC_ls%%".split(" "),
    ].map((name) => [name]),
  )("P21 leaves out %s, which would change what a command means, unless the person names it", (name) => {
    expect(buildChildEnvironment({ [name]: "x" }, none)).not.toHaveProperty([name]);
    expect(buildChildEnvironment({ [name]: "x" }, { ...none, pass: [name] })).toHaveProperty([name], "x");
  });

  it.each(["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PERL5LIB"])(
    "P21 libraries are not looked for in the current folder: %s",
    (name) => {
      const given = { [name]: ":/p/lib:lib:/opt/lib:" };
      expect(buildChildEnvironment(given, { ...none, roots: ["/p"] })[name]).toBe("/opt/lib:/p/lib");
      expect(findGit({ roots: ["/p"], environment: given, passEnvironment: [] }).env[name]).toBe("/opt/lib");
    },
  );

  it("P21 programs of the project and of the current folder are found last or not at all", () => {
    const PATH = "/p/node_modules/.bin:.:/usr/bin::/p-other/bin:bin:/bin";
    expect(buildChildEnvironment({ PATH }, { ...none, roots: ["/p"] }).PATH).toBe(
      "/usr/bin:/p-other/bin:/bin:/p/node_modules/.bin",
    );
  });

  it("P21 nor are they found first through a link that leads into the project", () => {
    const folder = createTemporaryFolder();
    const [root, link] = [join(folder, "project"), join(folder, "link")];
    mkdirSync(join(root, "bin"), { recursive: true });
    symlinkSync(root, link);
    const PATH = `${link}/bin:/opt/bin`;
    expect(buildChildEnvironment({ PATH }, { ...none, roots: [root] }).PATH).toBe(`/opt/bin:${link}/bin`);
  });

  it.each([
    ["GIT_AUTHOR_NAME", "Ada"],
    ["GIT_SSH_COMMAND", "ssh -i key"],
    ["GIT_CONFIG_GLOBAL", "/home/ada/.gitconfig"],
    ["LD_LIBRARY_PATH", "/opt/lib"],
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
    ["DATABASE_URL", "postgres://db.example/x"],
    ["GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/key.json"],
    ["SSL_KEY", "./server.key"],
    ["USE_TOKEN", "true"],
    ["PWD", "here"],
    ["SSH_ASKPASS", "ssh-askpass"],
    ["GPG_TTY", "not a tty"],
    ["KEYBOARD_LAYOUT", "us"],
    ["XDG_SESSION_ID", "3"],
    ["npm_config_registry", "https://registry.example/"],
    ["NEXT_PUBLIC_API_KEY", "abc"],
    ["CACHE_KEY", "default-cache"],
    ["MAX_TOKENS", "4096"],
    ["TASK_PATH", "compass"],
    ["MULTI", "a\nb"],
    ["TASK", "sk-short and risk-averse-but-otherwise-fine"],
  ])("P19 keeps the harmless %s=%s", (name, value) => {
    expect(buildChildEnvironment({ [name]: value }, none)).toHaveProperty(name, value);
  });

  it("P19 what the person names is handed on, what settings name as the model's key is not", () => {
    const environment = { OPENAI_API_KEY: "x", MY_KEY: "y", MY_VARIABLE: "z" };
    const cleaned = buildChildEnvironment(environment, { pass: ["OPENAI_API_KEY"], secret: ["MY_KEY"] });
    expect(cleaned).toMatchObject({ OPENAI_API_KEY: "x", MY_VARIABLE: "z" });
    expect(cleaned).not.toHaveProperty("MY_KEY");
  });

  it("switches pagers and questions off and marks the child", () => {
    const marks = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", BURIN: "1" };
    expect(buildChildEnvironment({ PAGER: "less" }, none)).toEqual(marks);
  });
});
