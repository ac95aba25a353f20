import { describe, expect, it } from "vitest";
import { readHtmlPage } from "../shape-page.ts";

const HERE = new URL("https://site.test/docs/page");
const markdown = (html: string) => readHtmlPage(html, HERE, false).text;
const plain = (html: string) => readHtmlPage(html, HERE, true).text;

const FORMS: readonly (readonly [what: string, html: string, markdown: string])[] = [
  ["headings", "<h1>One</h1><h3>Three <em>x</em></h3>", "# One\n\n### Three *x*"],
  ["paragraphs", "<p>a\n  b</p><p>c", "a b\n\nc"],
  ["words of blocks apart", "<div>a<div>b</div>c</div>", "a\n\nb\n\nc"],
  ["line breaks", "<p>a<br>b<br><br>c</p>", "a\nb\n\nc"],
  ["marks close to their words", "<p>x<b> y </b>z <i></i><del>d</del></p>", "x **y** z ~~d~~"],
  [
    "relative links",
    '<a href="../a?x=1&amp;y=2">t</a> <a href="//h.test/">u</a>',
    "[t](https://site.test/a?x=1&y=2) [u](https://h.test/)",
  ],
  [
    "frames",
    '<frameset cols="20%,80%"><frame src="list.html" title="List"><frame src="/main.html"></frameset>',
    "[List](https://site.test/docs/list.html) [frame](https://site.test/main.html)",
  ],
  [
    "a page that only sends on",
    '<head><meta http-equiv="Refresh" content="0; url=\'../latest/\'"><title>x</title></head>',
    "The page sends on to https://site.test/latest/",
  ],
  ["a page that reads itself again", "<meta http-equiv=refresh content=300><p>News", "News"],
  ["links in the page", '<a href="#part">t</a>', "[t](#part)"],
  ["links that only run a script", '<a href="javascript:go()">t</a>', "t"],
  ["a link across lines", "<a href=/x>a<br>b</a>", "[a b](https://site.test/x)"],
  [
    "a card that is a link",
    '<a href="/x"><h3>Card</h3><p>More</p></a>',
    "### [Card](https://site.test/x)\n\nMore",
  ],
  [
    "headings that lead to themselves",
    '<h2><a href="#a">A</a> <a href="/b">b</a></h2>',
    "## A [b](https://site.test/b)",
  ],
  ["marks in marks", "<b>a <strong>b</strong> <i>c</i></b>", "**a b *c***"],
  ["the marks beside headings", '<h2>Part <a href="#part">#</a></h2>', "## Part"],
  [
    "images",
    '<img src="/i.png" alt="A cat"><img src="/deco.png" alt="">',
    "![A cat](https://site.test/i.png)",
  ],
  [
    "images that load late",
    '<img src="data:image/gif;base64,R0" data-src="/i.png" alt="late">',
    "![late](https://site.test/i.png)",
  ],
  ["parentheses in links", '<a href="/a_(b)">t</a>', "[t](https://site.test/a_%28b%29)"],
  ["lists", "<ul><li>a<li>b<ol start=3><li>c</li><li>d</li></ol></ul>", "- a\n- b\n  3. c\n  4. d"],
  ["tasks", "<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b"],
  ["quotes", "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"],
  ["code", "<p>use <code>a  &lt;b&gt;</code> or <code>`x`</code></p>", "use `a <b>` or `` `x` ``"],
  [
    "code blocks",
    '<pre><code class="language-ts">if (a) {\n  b();\n}\n</code></pre>',
    "```ts\nif (a) {\n  b();\n}\n```",
  ],
  [
    "code of highlighters",
    '<div class="highlight-source-js"><pre><span>a</span><br><span>b</span></pre></div>',
    "```js\na\nb\n```",
  ],
  ["fences in code", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
  ["code in lists", "<ul><li>a<pre>x\n y</pre></ul>", "- a\n\n  ```\n  x\n   y\n  ```"],
  [
    "tables",
    "<table><tr><th>a<th>b|c<tr><td>1<td><a href=/x>y</a></table>",
    "| a | b\\|c |\n| --- | --- |\n| 1 | [y](https://site.test/x) |",
  ],
  ["wide cells", "<table><tr><td colspan=2>a<tr><td>b<td>c</table>", "| a |  |\n| --- | --- |\n| b | c |"],
  [
    "tables that lay out",
    "<table><tr><td><p>a</p><ul><li>b</ul></td><td>c</td></tr></table>",
    "a\n\n- b\n\nc",
  ],
  ["definitions", "<dl><dt>a<dd>b</dl>", "**a**\n\nb"],
  ["formulas", '<math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math>', "$x^2$"],
  ["rules", "<p>a<hr>b", "a\n\n---\n\nb"],
  ["what only looks like a mark", "<p># a</p><p>1. b</p><p>- c</p>", "\\# a\n\n1\\. b\n\n\\- c"],
  [
    "characters",
    "<p>&eacute;&#233;&#xe9; &nbsp;&mdash; &copy;2 &unknown; &#128; &lt;b&gt; ?a=1&copy=2</p>",
    "ééé \u00a0— ©2 &unknown; € <b> ?a=1&copy=2",
  ],
  [
    "characters by any name that HTML has",
    "<p>&Zopf; &rarrhk; &NotEqualTilde; &bigcap; &CounterClockwiseContourIntegral;</p>",
    "ℤ ↪ ≂̸ ⋂ ∳",
  ],
  [
    "what no browser shows",
    "a<script>x</script><style>y</style><!-- z --><template>t</template><noscript>n</noscript><svg><text>s</text></svg>b",
    "ab",
  ],
  [
    "what is hidden",
    '<p>a</p><div hidden>x</div><p style="display: none">y</p><span aria-hidden=true>z</span>',
    "a",
  ],
  ["video", '<video src="/v.mp4" title="Demo"></video>', "[Demo](https://site.test/v.mp4)"],
  ["unquoted and repeated attributes", "<a href=/x href=/y class='a b'>t</a>", "[t](https://site.test/x)"],
  [
    "tags that no page should have",
    "<constructor>a</constructor> <prototype b=1>b<p constructor=x>c",
    "a b\n\nc",
  ],
  ["broken tags", "<p>a < b <1 </ p><b>c</i></b><", "a < b <1 **c**<"],
];

const SENTENCE = "The burin cuts one exact line, and it does not slip, whatever the copper is like. ";

describe("R42 HTML to Markdown", () => {
  it.each(FORMS)("%s", (_what, html, wanted) => {
    expect(markdown(html)).toBe(wanted);
  });

  it("the page may say what its links count from", () => {
    expect(markdown('<head><base href="/other/"></head><a href="x">t</a>')).toBe(
      "[t](https://site.test/other/x)",
    );
  });

  it("its title is known", () => {
    expect(readHtmlPage("<title>A &amp;\n B</title><p>x", HERE, false)).toMatchObject({
      title: "A & B",
      text: "x",
    });
  });

  it("as plain words it has no marks", () => {
    expect(plain("<h1>A</h1><p>b <b>c</b> <a href=/x>d</a></p><ul><li>e</ul><pre>f\n g</pre>")).toBe(
      "A\n\nb c d\n\n- e\n\nf\n g",
    );
  });
});

describe("the main content", () => {
  const nav = `<nav><a href="/1">One</a> <a href="/2">Two</a></nav>`;
  const body = `<h1>Title</h1><p>${SENTENCE.repeat(4)}</p><p>See <a href="/more">more</a>.</p>`;
  const foot = "<footer>Imprint, all rights</footer>";

  it.each([
    ["what the page calls main", `${nav}<main>${body}</main><aside>News</aside>${foot}`],
    ["an article", `<header><a href="/">Home</a></header>${nav}<article>${body}</article>${foot}`],
    [
      "where the paragraphs are",
      `<div class="menu">${nav}</div><div id="wrap"><div>${body}</div></div><div class="footer">${foot}</div>`,
    ],
    ["all but the surroundings", `${nav}${body}${foot}`],
  ])("is found by %s, with its heading and its links", (_by, html) => {
    const { text, isMainPart } = readHtmlPage(html, HERE, false);
    expect(isMainPart).toBe(true);
    expect(text).toMatch(/^# Title\n\nThe burin/);
    expect(text).toContain("[more](https://site.test/more)");
    expect(text).not.toMatch(/One|Imprint|News|Home/);
  });

  // Pages of ZDNet and Politico, from other packages that test with real pages.
  it("is not what readers say below it, however much that is", () => {
    const said = `<li><h3>Reader</h3><p>${"I do not agree, by any means. ".repeat(20)}</p></li>`;
    const comments = `<div id="comments"><ol id="commentsList">${said.repeat(9)}</ol></div>`;
    const text = markdown(`${nav}<div id="main"><div class="story">${body}</div>${comments}</div>${foot}`);
    expect(text).toMatch(/^# Title\n\nThe burin/);
  });

  it("is found in a page that is only named after its comments", () => {
    const page = `<div class="has comments"><div class="story">${body}</div></div>`;
    const text = markdown(`${nav}${page}<div>Other things of the site.</div>${foot}`);
    expect(text).toMatch(/^# Title\n\nThe burin/);
    expect(text).not.toContain("Other things");
  });

  it("is the whole page where none stands out", () => {
    const html = `${nav}<p>Short.</p>`;
    expect(readHtmlPage(html, HERE, false)).toMatchObject({ isMainPart: false });
    expect(markdown(html)).toContain("[One](https://site.test/1)");
  });

  it("is not an empty shell that is only called main", () => {
    const text = markdown(`<main></main><div>${body}</div>`);
    expect(text).toContain("The burin");
  });
});

describe("P50 hostile pages are read to their end", () => {
  const times = (text: string, count: number) => text.repeat(count);
  it.each<[string, string, (text: string) => boolean]>([
    [
      "1 MB of CSS",
      `<style>${times("a{b:c}", 170_000)}</style><p style="${times("x:y;", 10_000)}">Hello`,
      (text) => text === "Hello",
    ],
    ["100,000 nested blocks", `${times("<div>", 100_000)}deep`, (text) => text === "deep"],
    [
      "100,000 nested lists",
      `${times("<ul><li>", 100_000)}deep`,
      (text) => text.endsWith("deep") && text.length < 1000,
    ],
    [
      "100,000 nested quotes",
      `${times("<blockquote>", 100_000)}deep`,
      (text) => text.endsWith("deep") && text.length < 1000,
    ],
    [
      "100,000 nested marks",
      `${times("<b>", 100_000)}deep`,
      (text) => text.includes("deep") && text.length < 1000,
    ],
    ["30,000 nested tables", `${times("<table><tr><td>", 30_000)}deep`, (text) => text.includes("deep")],
    [
      "30,000 links in links",
      `${times("<span><a href=/x>", 30_000)}deep`,
      (text) => text.includes("[deep]("),
    ],
    ["an attribute of 5 MB", `<p class="${times("a", 5_000_000)}">x`, (text) => text === "x"],
    ["a million attributes", `<p ${times("b=1 ", 1_000_000)}>x`, (text) => text === "x"],
    ["quotes that never end", times("<a b='", 500_000), (text) => text === ""],
    ["tags that never end", times("<a ", 500_000), (text) => text === ""],
    ["scripts that never end", `a<script>${times("</script ", 500_000)}`, (text) => text === "a"],
    ["comments that never end", `a${times("<!--", 500_000)}`, (text) => text === "a"],
    ["end tags alone", `${times("<div>", 190)}${times("</b>", 300_000)}x`, (text) => text === "x"],
    ["one line of 100,000 marks", times("<i>a</i> ", 100_000), (text) => text.length === 400_000 - 1],
    ["one line of 200,000 breaks", times("x<br>", 200_000), (text) => text.split("\n").length === 200_000],
    [
      "a table of 100,000 rows",
      `<table>${times("<tr><td>a<td>b", 100_000)}`,
      (text) => text.split("\n").length === 100_001,
    ],
    [
      "code with a million spaces in its line",
      `<pre>a${times(" ", 1_000_000)}b</pre>`,
      (text) => text.length === 1_000_010,
    ],
    ["a fence of a million ticks", `<pre>${times("`", 1_000_000)}`, (text) => text.length > 3_000_000],
  ])("%s", (_what, html, holds) => {
    expect(holds(markdown(html))).toBe(true);
  });
});
