// What the generator is told. The pages themselves are in docs/ and in pages/ beside this file.
const SIDEBAR = {
  Use: [
    "first-session",
    "terminal",
    "command-line",
    "settings",
    "permissions",
    "sandbox",
    "models",
    "sessions",
    "agent-loop",
    "hooks-skills-commands",
    "automation",
    "fleet",
    "moving-in",
    "questions",
  ],
  Connect: ["mcp", "discovery", "serve-mcp", "serve-acp"],
  Embed: ["library", "compared", "tool-contract", "edit-matching", "requirements"],
};
/** Words of the frame around the pages; what is missing is English. */
const LOCALES = {
  root: { label: "English", lang: "en", words: words("Quick start", "Documentation", "On this page") },
  zh: { label: "中文", lang: "zh-CN", words: words("快速上手", "文档（英文）", "本页内容", "搜索") },
  ja: {
    label: "日本語",
    lang: "ja",
    words: words("クイックスタート", "ドキュメント（英語）", "このページの内容", "検索"),
  },
  fr: {
    label: "Français",
    lang: "fr",
    words: words("Premiers pas", "Documentation (en anglais)", "Sur cette page", "Rechercher"),
  },
  ru: {
    label: "Русский",
    lang: "ru",
    words: words("Быстрый старт", "Документация (на английском)", "На этой странице", "Поиск"),
  },
};

/** @param {string[]} all */
function words(...all) {
  const [quickStart, docs, outline, search = "Search"] = all;
  return { quickStart, docs, outline, search };
}

/** @param {{ tools: readonly string[], api: Readonly<Record<string, string>> }} pages */
export function siteConfig({ tools, api }) {
  const groups = Object.entries(SIDEBAR).map(([text, names]) => ({
    text,
    items: names.map((name) => ({ text: titleOf(name), link: `/docs/${name}` })),
  }));
  const ofTools = {
    text: "Tools",
    items: tools.map((name) => ({ text: name, link: `/docs/tools/${name}` })),
  };
  const sidebar = [
    { text: "Start", items: [{ text: "Quick start", link: "/quick-start" }] },
    ...groups,
    ofTools,
    { text: "API", items: Object.entries(api).map(([name, text]) => ({ text, link: `/api/${name}` })) },
  ];
  return {
    title: "Burin",
    description: "A coding agent for the terminal, and a tool core for your own agent",
    base: process.env.DOCS_BASE ?? "/",
    // None is asked for.
    head: [["link", { rel: "icon", href: "data:," }]],
    locales: Object.fromEntries(Object.entries(LOCALES).map((entry) => localeOf(entry, sidebar))),
    themeConfig: {
      search: {
        provider: "local",
        options: {
          locales: Object.fromEntries(
            Object.entries(LOCALES).map(([key, { words }]) => [
              key,
              { translations: { button: { buttonText: words.search, buttonAriaLabel: words.search } } },
            ]),
          ),
        },
      },
      // Most pages are in one language: the menu of languages leads to the start of each.
      i18nRouting: false,
    },
    // A contrast of 4.5 to 1 or more, in the light and in the dark.
    markdown: {
      // Links to headings are written as code hosts make them.
      anchor: { slugify },
      theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    },
    cacheDir: "cache",
  };
}

/** @param {[string, typeof LOCALES.root]} entry @param {object[]} sidebar */
function localeOf([key, { label, lang, words }], sidebar) {
  const start = key === "root" ? "/quick-start" : `/${key}/quick-start`;
  const nav = [
    { text: words.quickStart, link: start },
    { text: words.docs, link: "/docs/terminal" },
  ];
  const ownSidebar = key === "root" ? sidebar : [{ text: label, items: [nav[0]] }];
  const themeConfig = { nav, sidebar: ownSidebar, outline: { level: [2, 3], label: words.outline } };
  return [key, { label, lang, themeConfig }];
}

/** @param {string} heading */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** @param {string} name */
function titleOf(name) {
  const known = {
    mcp: "MCP servers",
    "serve-mcp": "Serve MCP",
    "serve-acp": "Editors",
    "command-line": "Command line and scripts",
    questions: "Questions and answers",
    compared: "Other libraries",
  };
  const spoken = name.replaceAll("-", " ");
  return known[/** @type {keyof typeof known} */ (name)] ?? spoken[0]?.toUpperCase() + spoken.slice(1);
}
