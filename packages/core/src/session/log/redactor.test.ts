import { randomBytes } from "node:crypto";
import { mergeSettings } from "@burin/contract/settings/settings";
import { describe, expect, it } from "vitest";
import { isRedacted } from "../unsettled-calls.ts";
import { Redactor } from "./redactor.ts";

const environment = {
  OPENAI_API_KEY: "plain-words-9",
  MY_SERVICE_TOKEN: "9f8e7d6c5b4a3210",
  SIGNING_KEY: "/home/me/keys/signing",
  CACHE_KEY: "default-cache",
  SHORT_TOKEN: "abc",
  PATH: "/usr/bin:/bin",
};
const redactor = new Redactor({ environment });

const KEY = `-----BEGIN RSA PRIVATE KEY-----
MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgHcTz6sE2I2yPB
aFDrBz9vFqU4yP8qK3mN0x7RZyN1kq2s8QKBgQDh
-----END RSA PRIVATE KEY-----`;

describe("secrets in what is written", () => {
  it.each([
    ["the value of a key", "key plain-words-9!", "key [redacted: OPENAI_API_KEY]!"],
    ["a likely variable's value", "x=9f8e7d6c5b4a3210", "x=[redacted: MY_SERVICE_TOKEN]"],
    ["an sk- key", `"sk-${"a1B2".repeat(8)}"`, '"[redacted: token]"'],
    ["a GitHub token", `ghp_${"a1B2".repeat(9)}`, "[redacted: token]"],
    ["an AWS key id", "AKIAIOSFODNN7EXAMPLE", "[redacted: token]"],
    [
      "a JWT",
      "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
      "Bearer [redacted: token]",
    ],
    [
      "a password in an address",
      "psql postgres://ada:hunter2@db.example/x",
      "psql postgres://ada:[redacted: password]@db.example/x",
    ],
    [
      "a token in an address of git",
      "https://x:s3cr3t@example.org/a.git",
      "https://x:[redacted: password]@example.org/a.git",
    ],
    [
      "one with an @ in it",
      "git@x https://x:s3cr@t@example.org/a@b",
      "git@x https://x:[redacted: password]@example.org/a@b",
    ],
    [
      "a token alone in an address",
      "https://0a1b2c3d4e5f6a7b8c9d@example.org/a",
      "https://[redacted: password]@example.org/a",
    ],
    ["a private key", `a\n${KEY}\nb`, "a\n[redacted: private key]\nb"],
    ["one that is added in a diff", `+${KEY.replaceAll("\n", "\n+")}\n+b`, "+[redacted: private key]\n+b"],
  ])("P19 %s goes", (_what, text, clean) => {
    expect(redactor.redactText(text)).toBe(clean);
    expect(redactor.redactJson({ a: [text] })).toBe(JSON.stringify({ a: [clean] }));
  });

  it("P19 beginnings of tokens without their ends are looked at for little more than their length", () => {
    const beginnings = "eyJaaaaaaa-".repeat(60_000);
    expect(redactor.redactText(beginnings)).toBe(beginnings);
    const token = `eyJ${"a".repeat(3000)}.eyJ${"b".repeat(90_000)}.${"c".repeat(600)}`;
    expect(redactor.redactText(`x-${token} y`)).toBe("x-[redacted: token] y");
  });

  it("P19 tokens that services mark with a prefix go, as gitleaks lists them", () => {
    const random = (length: number) => randomBytes(length).toString("hex").slice(0, length);
    const tokens: readonly (readonly [start: string, length: number])[] = [
      ...([
        ["dop_v1_", 64],
        ["doo_v1_", 64],
        ["glptt-", 40],
        ["gldt-", 20],
        ["glrt-", 20],
        ["glsa_", 41],
      ] as const),
      ...([
        ["hf_", 34],
        ["hvs.", 92],
        ["HRKU-AA", 58],
        ["lin_api_", 40],
        ["ntn_", 46],
        ["NRAK-", 27],
      ] as const),
      ...([
        ["PMAK-", 59],
        ["pplx-", 48],
        ["pscale_tkn_", 40],
        ["pscale_oauth_", 40],
        ["rubygems_", 48],
      ] as const),
      ...([
        ["xkeysib-", 81],
        ["shpat_", 32],
        ["shpss_", 32],
        ["xapp-1-", 60],
        ["sntryu_", 64],
        ["sgp_", 40],
      ] as const),
      ...([
        ["tfp_", 59],
        ["dapi", 32],
        ["gsk_", 52],
        ["xai-", 80],
        ["r8_", 37],
        ["nvapi-", 64],
      ] as const),
    ];
    for (const [start, length] of tokens) {
      const token = start + random(length);
      expect(redactor.redactText(`key=${token}; x`), start).toBe("key=[redacted: token]; x");
      expect(redactor.redactJson({ a: token }), start).toBe('{"a":"[redacted: token]"}');
    }
    const plain = "hf_model_name tvly-test shpat_ dapi nvapi-style AQ.test lin_api_key_of_the_user ya29.x";
    expect(redactor.redactText(plain)).toBe(plain);
  });

  it.each([
    "the task-list and sk-learn, a ghp_ prefix, AKIA alone, eyJ in a row",
    "default-cache and /home/me/keys/signing and abc",
    "A key begins with -----BEGIN PRIVATE KEY----- and then come lines of base64, which nobody reads.",
    "plain words 9",
    // Lines from the code of a model server, from Linux Mint and from O-RAN.
    "self.num_layers = self.model_config.hf_config.text_config.num_hidden_layers",
    "etc/xdg/autostart/xapp-sn-watcher.desktop and ric-plt-xapp-frame-cpp",
    "connect to postgres://user:password@localhost or https://example.org:8080/a@b or mailto:a@b",
    "http://localhost:3000?mail=a@b and https://ada.lovelace-of-the-engine@example.org",
    "redis://$USER:$PASS@host and http://ada@example.org and ssh://git@example.org:22/x",
  ])("ordinary text stays: %s", (text) => {
    expect(redactor.redactText(text)).toBe(text);
  });

  it("P19 what the settings give to an MCP server goes, in the form in which the server gets it", () => {
    const { mcpServers } = mergeSettings([
      {
        mcpServers: {
          local: {
            command: "serve",
            env: {
              NOTES_API_KEY: "opensesame1x",
              ACCOUNT: "4fJ29xQe8ZbT1mKc",
              REGION: "eu-central-1",
              MODE: "production",
              HOME: "/home/ada/notes1234567890abcdef",
            },
          },
          remote: {
            url: "https://a1b2c3d4e5f6g7h8i9.example.org/s/Zk81nQp27Vt5wLx3/mcp?token=swordfish-7&mode=read-only-mode",
            headers: {
              Authorization: "Bearer $NOTES",
              "X-Request-Id": "0b8f7c1e-3d52-4c6a-9b1e-7f20d5a4c3e2",
            },
          },
        },
      },
    ]);
    const given = new Redactor({ environment: { NOTES: "kept7outside" }, servers: mcpServers });
    const shown = `a1b2c3d4e5f6g7h8i9.example.org opensesame1x 4fJ29xQe8ZbT1mKc eu-central-1 production /home/ada/notes1234567890abcdef
      Zk81nQp27Vt5wLx3 swordfish-7 read-only-mode kept7outside 0b8f7c1e-3d52-4c6a-9b1e-7f20d5a4c3e2 Bearer`;
    expect(given.redactText(shown).split(/(?<!:)\s+/)).toEqual([
      "a1b2c3d4e5f6g7h8i9.example.org",
      ...["[redacted: NOTES_API_KEY]", "[redacted: ACCOUNT]", "eu-central-1", "production"],
      ...["/home/ada/notes1234567890abcdef", "[redacted: url]", "[redacted: token]", "read-only-mode"],
      ...["[redacted: Authorization]", "[redacted: X-Request-Id]", "Bearer"],
    ]);
  });

  it("P19 of such a text what stands beside a variable goes too, and what stands in for one that is not set", () => {
    const env = {
      DB_PASSWORD: "Tr0ub4dor$pecial",
      API_TOKEN: `\${UNSET:-opensesame1x}`,
      SECRET: "pre-$NOTES",
    };
    const { mcpServers } = mergeSettings([{ mcpServers: { local: { command: "serve", env } } }]);
    const given = new Redactor({ environment: { NOTES: "kept7outside" }, servers: mcpServers });
    expect(given.redactText("Tr0ub4dor$pecial opensesame1x pre-kept7outside kept7outside")).toBe(
      "[redacted: DB_PASSWORD] [redacted: API_TOKEN] [redacted: SECRET] [redacted: SECRET]",
    );
  });

  it("P19 what a server gets in its arguments is known, in each way to write it", () => {
    const args = [
      ...[
        "-y",
        "@scope/server@1.2.3",
        "./data1234567890abcdef",
        "--token",
        "opensesame1x",
        "--api-key=swordfish-7x",
      ],
      ...["--header", "Authorization: Bearer kept7outside", "--mode", "read-only", `{"apiKey":"Tr0ub4dor"}`],
      "https://example.org/mcp?key=Zk81nQp27Vt5",
    ];
    const { mcpServers } = mergeSettings([{ mcpServers: { local: { command: "npx", args } } }]);
    const given = new Redactor({ environment: {}, servers: mcpServers });
    expect(given.redactText(args.join(" "))).toBe(
      "-y @scope/server@1.2.3 ./data1234567890abcdef --token [redacted: token] --api-key=[redacted: api-key] " +
        "--header Authorization: Bearer [redacted: Authorization] --mode read-only " +
        '{"apiKey":"[redacted: apiKey]"} https://example.org/mcp?key=[redacted: key]',
    );
  });

  it("leaves what is no text for a reader", () => {
    const token = `sk-${"a1B2".repeat(8)}`;
    const value = { signature: token, inlineData: { data: token }, text: "AKIAIOSFODNN7EXAMPLE" };
    expect(redactor.redactValue(value)).toEqual({ ...value, text: "[redacted: token]" });
    expect([isRedacted({ a: redactor.redactText(token) }), isRedacted({ a: token })]).toEqual([true, false]);
  });
});
