// The links of a card at Apple and at Google.
import { expect, it } from 'vitest';
import { appleActions, googleLinks, links } from '../../../schemas/programs/links.schema.js';

const all = { website: 'https://example.com/', order: 'https://example.com:8443/order?at=2', phone: '+442079460958' };

it('are at most two, of addresses with https and numbers with their country', () => {
  const { website, order, phone } = all;
  for (const good of [{}, { website }, { order, phone }]) expect(links.safeParse(good).success).toBe(true);
  const bad = [
    all,
    { website: 'http://example.com' },
    { order: 'https://' },
    { order: `${order} b` },
    { website: 'javascript:alert(1)' },
    { phone: '020 7946 0958' },
    { phone: '+44 20 7946' },
    { shop: website },
  ];
  for (const wrong of bad) expect([wrong, links.safeParse(wrong).success]).toEqual([wrong, false]);
});

it("are actions of Apple's types, and Google's links with a description", () => {
  expect(appleActions(all)).toEqual([
    { identifier: 'website', type: 'membershipBenefits', url: all.website },
    { identifier: 'order', type: 'order', url: all.order },
    { identifier: 'phone', type: 'call', url: 'tel://+442079460958' },
  ]);
  expect(googleLinks(all)).toEqual([
    { id: 'website', uri: all.website, description: 'example.com' },
    { id: 'order', uri: all.order, description: 'example.com:8443' },
    { id: 'phone', uri: 'tel:+442079460958', description: '+442079460958' },
  ]);
});

it('are written in ASCII, as wallets read them', () => {
  const order = 'https://bücher.example/größe?q="a+b"';
  const url = 'https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe?q=%22a+b%22';
  expect(links.safeParse({ order }).success).toBe(true);
  expect(appleActions({ order })[0]?.url).toBe(url);
  expect(googleLinks({ order })[0]?.uri).toBe(url);
});
