// Whether everything on a page can be seen: nothing wider than the screen, no text cut, and where the parts are.
import type { Page } from 'playwright-core';

/** Sets the size of text as the settings of a browser do. */
export async function setTextSize(page: Page, percent: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const standard = Math.round((16 * percent) / 100);
  await session.send('Page.setFontSizes', { fontSizes: { standard, fixed: standard } });
  await page.reload();
}

const findWithin = (parts: string) => `(() => {
  const width = document.documentElement.clientWidth;
  const found = [];
  if (document.scrollingElement.scrollWidth > width) found.push('the page is ' + document.scrollingElement.scrollWidth + ' wide');
  for (const element of document.querySelectorAll('${parts} *')) {
    if (element.closest('.unseen, .celebration i, [hidden]') || !element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    const name = element.tagName + ' ' + (element.id || element.className) + ' ' + element.textContent.trim().slice(0, 30);
    if (box.left < -1 || box.right > width + 1) found.push(name + ' ends at ' + Math.round(box.right));
    const style = getComputedStyle(element);
    if (style.overflow !== 'visible' && element.scrollWidth > element.clientWidth + 1 && element.tagName !== 'INPUT')
      found.push(name + ' is cut');
  }
  return found;
})()`;

/** What is cut, or reaches beyond the screen. */
export const findCuts = (page: Page, parts = 'main'): Promise<string[]> => page.evaluate(findWithin(parts));

/** Titles of columns that only screen readers hear, and parts without a text. */
const unseen = /^(?:THEAD .*|\w+ [^ ]* ) is cut$/;

/** What is cut on a page of the console. */
export const findConsoleCuts = async (page: Page, parts?: string): Promise<string[]> =>
  (await findCuts(page, parts)).filter((found) => !unseen.test(found));
