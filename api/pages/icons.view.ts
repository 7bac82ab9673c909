// Small line drawings, hidden from screen readers because the text next to each drawing says the same.
import { Html } from '../../platform/html.js';

const drawing = (name: string, paths: string): Html =>
  new Html(`<svg class="${name}" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${paths}</svg>`);

export const tick = drawing('tick', '<path d="M5 12.5l4.6 4.6L19 7.6"/>');
export const gift = drawing(
  'gift',
  '<path d="M4 10h16v10H4zM3 7h18v3H3zM12 7v13M12 7c-5 0-5-5-2-4 1.5.5 2 4 2 4zm0 0c5 0 5-5 2-4-1.5.5-2 4-2 4z"/>',
);
export const wallet = drawing(
  'wallet',
  '<rect x="3" y="5" width="18" height="14" rx="3"/><path d="M3 9.5h18M3 13h5c.8 2 2 3 4 3s3.2-1 4-3h5"/>',
);
export const speech = drawing('speech', '<path d="M20 12a7.5 7.5 0 0 1-11 6.6L4 20l1.4-4.6A7.5 7.5 0 1 1 20 12z"/>');
