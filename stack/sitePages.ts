// The pages of the site at /docs, from Markdown and from the OpenAPI document. Links are relative, so that they work
// behind a gateway that adds a path prefix.
import { Marked, type Tokens } from 'marked';
import { Html, html } from '../platform/html.js';
import { apiPrefix } from '../schemas/tables/endpoints.js';
import { guides } from './guides.js';

/** What the search finds. `href` is relative to /docs/. */
interface Section {
  page: string;
  heading: string;
  text: string;
  href: string;
}

export interface Page {
  /** Of the file; the page of the reference is `index`. */
  name: string;
  title: string;
  /** With links that lead somewhere on the site. */
  markdown: string;
  body: string;
  sections: Section[];
}

/** The anchor that GitHub creates for a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** Links to pages that are not on the site become their text: they are for developers of the service. */
const siteLinks = (markdown: string): string =>
  markdown.replace(/(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]+)?\)/g, (link, text: string, path: string) => {
    if (path === '../program.schema.json') return `[${text}](..${apiPrefix}/program.schema.json)`;
    if (path === '../sdk/README.md') return `[${text}](sdk.md)`;
    const name = /^([\w-]+)\.md$/.exec(path)?.[1];
    const isGuide = name !== undefined && (name in guides || name.startsWith('api-'));
    return isGuide || path.startsWith('examples/') || path.startsWith(`..${apiPrefix}/`) ? link : text;
  });

const withoutMarks = (text: string): string => text.replaceAll(/[`*]|\[(.*?)\]\(.*?\)/g, '$1').trim();

export function readPage(name: string, source: string): Page {
  const markdown = siteLinks(source).replaceAll(/^<!-- .* -->\n/gm, '');
  const sections: Section[] = [];
  let title = name;
  const address = name === 'index' ? '../docs' : name;
  const add = (heading: string, anchor = '') => {
    sections.push({ page: title, heading, text: '', href: `${address}${anchor && `#${anchor}`}` });
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }: Tokens.Heading) {
        const inner = new Html(this.parser.parseInline(tokens));
        return html`<h${depth} id="${anchorOf(text)}">${inner}</h${depth}>\n`.text;
      },
      link({ href, tokens }: Tokens.Link) {
        const to = href.replace(/^([\w-]+)\.md(?=#|$)/, '$1');
        return html`<a href="${to}">${new Html(this.parser.parseInline(tokens))}</a>`.text;
      },
      // What scrolls must be reachable by keyboard.
      code({ text }: Tokens.Code) {
        return html`<pre tabindex="0"><code>${text}</code></pre>\n`.text;
      },
    },
    hooks: {
      postprocess: (page) =>
        page
          .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>')
          .replaceAll('<th></th>', '<td></td>'),
    },
  });
  for (const token of marked.lexer(markdown)) {
    if (token.type === 'heading') {
      const heading = withoutMarks(token.text);
      if (token.depth === 1) title = heading;
      add(heading, token.depth === 1 ? '' : anchorOf(token.text));
    } else {
      const section = sections.at(-1);
      if (section) section.text += token.type === 'code' ? '' : ` ${withoutMarks(token.raw)}`;
    }
  }
  return { name, title, markdown, body: String(marked.parse(markdown)), sections };
}

interface Site {
  reference: readonly Page[];
  guides: readonly Page[];
}

export function pageHtml({ name, title, body }: Page, { reference, guides: own }: Site): string {
  // The first page is at /docs, all others are below it.
  const folder = name === 'index' ? 'docs/' : '';
  const entry = (page: Page) => {
    const href = page.name === 'index' ? `${folder}../docs` : folder + page.name;
    return html`<li><a href="${href}"${page.name === name && new Html(' aria-current="page"')}>${page.title}</a></li>\n`;
  };
  const isReference = reference.some((page) => page.name === name);
  const parts = isReference ? reference.slice(1) : [];
  const shown = folder ? body.replaceAll(/<a href="(?![a-z]+:|#)/g, `<a href="${folder}`) : body;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: Loyalty Pass Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}style.css">
<script src="${folder}main.js" defer></script>
</head>
<body data-folder="${folder}">
<header>
<a class="skip" href="#content">Skip to the text</a>
<p><a class="home" href="${folder}../docs">Loyalty Pass Service</a></p>
<form role="search"><label for="search">Search</label><input id="search" type="search" autocomplete="off" aria-controls="found">
<div id="found" aria-live="polite" hidden></div></form>
</header>
<nav aria-label="Pages"><ul>
${reference.slice(0, 1).map(entry)}${parts.length > 0 && html`<li><ul>\n${parts.map(entry)}</ul></li>\n`}${own.map(entry)}</ul></nav>
<main id="content"><article>
${new Html(shown)}
<p><a href="${folder}${name}.md">This page as Markdown</a></p>
</article></main>
</body>
</html>
`.text;
}

/** `{base}` is the service's own address. */
export const llmsText = (all: readonly Page[]): string =>
  `# Loyalty Pass Service

> Enrolls loyalty members into Apple Wallet and Google Wallet passes, changes points, redeems rewards, imports members from CSV, and reports events by signed webhooks.

The API is at {base}${apiPrefix}. Send an API key as \`X-API-Key\`, the token of a cash register as \`Authorization: Bearer\`. Bodies are JSON; answers are \`{"success": true, "data": ...}\` or \`{"success": false, "error": {"code", "message", "details"}}\`. A request that is repeated with the same \`Idempotency-Key\` is applied once.

## Guides

${all.map(({ name, title }) => `- [${title}]({base}/docs/${name}.md): ${guides[name]}`).join('\n')}

## Reference

- [Every endpoint]({base}/docs/index.md): a list, with a page for each group
- [Every event]({base}/docs/api-events.md): what each field says, with a sample body
- [OpenAPI document]({base}${apiPrefix}/openapi.json): the same for generators and tools
- [JSON Schema of a program]({base}${apiPrefix}/program.schema.json): what a program file may hold
`;
