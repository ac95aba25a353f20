import { createServer, type Server } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createDeflate, deflateSync } from "node:zlib";
import { createToolbox } from "@burin/core";
import { parseInWorker } from "@burin/files/parsing/parse-aside";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, describe, expect, it } from "vitest";
import { readHtmlPage } from "./shape-page.ts";

const open: Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Returns what web_fetch makes of such an answer, and how often the main thread ran in the meantime. */
async function fetched(type: string, body: Buffer | string) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": type });
    response.end(body);
  });
  open.push(server);
  const place = `127.0.0.1:${await listenOnFreePort(server)}`;
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 1);
  const settings = { web: { allowedHosts: [place] } };
  const toolbox = createToolbox({ root: createTemporaryFolder(), approvalMode: "yolo", settings });
  const { llmContent, error } = await toolbox.call("web_fetch", { url: `http://${place}/` });
  clearInterval(counting);
  await toolbox.close();
  return { text: String(llmContent), error, turns };
}

/** Returns a PDF with one page, drawn by this stream. */
function pdf(packed: Buffer): Buffer {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>",
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ].map((text, index) => Buffer.from(`${index + 1} 0 obj\n${text}\nendobj\n`));
  const head = Buffer.from(`5 0 obj\n<</Length ${packed.length}/Filter/FlateDecode>>\nstream\n`);
  const tail = Buffer.from("\nendstream\nendobj\ntrailer\n<</Size 6/Root 1 0 R>>\n%%EOF\n");
  return Buffer.concat([Buffer.from("%PDF-1.4\n"), ...objects, head, packed, tail]);
}

describe("P7 what comes from outside is parsed beside the main thread", () => {
  it("gives the text of a PDF", async () => {
    const { text } = await fetched(
      "application/pdf",
      pdf(deflateSync("BT /F1 12 Tf 72 700 Td (Nine words) Tj ET")),
    );
    expect(text).toContain("[Page 1 of 1]\nNine words");
  });

  it("refuses a PDF that unpacks to far more than it is, and says why", async () => {
    // Create it piece by piece: memory that this process frees while the PDF is read would hide what the PDF needs.
    const piece = Buffer.alloc(1024 * 1024, "BT /F1 12 Tf (bomb) Tj ET\n");
    const packed = await buffer(Readable.from(Array(700).fill(piece)).pipe(createDeflate()));
    const { error, turns } = await fetched("application/pdf", pdf(packed));
    expect(error).toMatchObject({ type: "too_large" });
    expect(error?.message).toMatch(/^The PDF http.*expands to more than \d+ MB, and was not read\.$/);
    expect(turns).toBeGreaterThan(20);
  });

  it.each([
    ["10 MB of [", "application/json", "[".repeat(10_000_000)],
    ["10 MB of [ in HTML", "text/html", `<!doctype html>${"[".repeat(10_000_000)}`],
    [
      "a deep list in each of a million items",
      "text/html",
      `${"<ul>".repeat(190)}${"<li>x".repeat(1_000_000)}`,
    ],
  ])(
    "leaves the main thread free: %s",
    async (_what, type, body) => {
      const { text, turns } = await fetched(type, body);
      expect(text).toContain("Characters 0 to");
      expect(turns).toBeGreaterThan(10);
    },
    60_000,
  );

  it("gives of a large page what a small one would give", async () => {
    const html = `<title>A</title><main>${"<p>Some <b>words</b>, and <a href=x>more</a>.".repeat(5000)}</main>`;
    const url = "http://a.test/b/";
    const page = { raw: html, url, mimeType: "text/html", format: "markdown" as const };
    const signal = new AbortController().signal;
    const { title, text } = await parseInWorker("page", page, { what: "It", signal });
    expect({ title, text }).toEqual({ title: "A", text: readHtmlPage(html, new URL(url), false).text });
  });

  it("ends at once when nobody wants it any more, and the next one has its turn", async () => {
    const stop = new AbortController();
    const raw = "<blockquote>".repeat(190) + "<p>x".repeat(2_000_000);
    const page = { raw, url: "http://a.test/", mimeType: "text/html", format: "markdown" as const };
    const long = parseInWorker("page", page, { what: "It", signal: stop.signal });
    setTimeout(() => stop.abort(new Error("not wanted")), 50);
    await expect(long).rejects.toThrow("not wanted");
    const notebook = JSON.stringify({ nbformat: 4, cells: [{ cell_type: "markdown", source: "# Hi" }] });
    const { signal } = new AbortController();
    expect(await parseInWorker("notebook", notebook, { what: "It", signal })).toContain(
      "## Cell 1 (markdown)\n# Hi",
    );
  });
});
