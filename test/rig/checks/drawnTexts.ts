// Which texts stand where in the console's picture of a phone, read from its markup.
import type { ApplePass, GooglePass } from '../../../console/parts/faces.js';

/** The class of the element around a text, and the text. */
export type Drawn = readonly [place: string, text: string];
type View = 'front' | 'older' | 'back';

const places = new Set([
  ...['pass-logo', 'pass-header', 'pass-primary', 'pass-row', 'pass-back', 'pass-actions', 'google-name', 'qr'],
]);
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };
const plain = (text: string) => text.replace(/&(\w+|#x27);/g, (whole, name) => entities[name] ?? whole);

/** In the order of reading. */
function drawnIn(markup: string): Drawn[] {
  const found: Drawn[] = [];
  const within: string[][] = [];
  const [, screen = ''] = markup.split('<div class="screen">');
  for (const [, closing, element = '', attributes = '', text] of screen.matchAll(/<(\/?)([a-z]+)([^>]*)>|([^<]+)/g)) {
    if (text !== undefined) found.push([within.flat().findLast((name) => places.has(name)) ?? '', plain(text)]);
    else if (closing) within.pop();
    else if (element !== 'img' && !attributes.endsWith('/'))
      within.push(/class="([^"]*)"/.exec(attributes)?.[1]?.split(' ') ?? []);
  }
  return found;
}

/**
 * The console is compiled by itself, so its components and React have no types here: those of React change what the
 * types of the browser in other tests mean. The console reads the address of its page.
 */
async function withoutTypes() {
  const files = ['../../../console/parts/phones.js', 'react', 'react-dom/server'];
  const page = Reflect.get(globalThis, 'document');
  Reflect.set(globalThis, 'document', { baseURI: 'http://console.example/console/' });
  try {
    const [phones, react, server] = await Promise.all(files.map((file) => import(file)));
    return { ...phones, ...react, ...server };
  } finally {
    if (page === undefined) Reflect.deleteProperty(globalThis, 'document');
    else Reflect.set(globalThis, 'document', page);
  }
}

/** The console's two phones. */
export async function consolePhones() {
  const { Iphone, Android, createElement, renderToStaticMarkup } = await withoutTypes();
  const draw = (phone: unknown, props: object): Drawn[] => drawnIn(renderToStaticMarkup(createElement(phone, props)));
  return {
    iphone: (pass: ApplePass, first: View) => draw(Iphone, { pass, first }),
    android: (pass: GooglePass, first: View) => draw(Android, { pass, pictures: {}, message: '', first }),
  };
}
