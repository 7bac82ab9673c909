// Watches a page from inside, from before its first script: what a screen reader would say, what sounds and shakes, and
// the databases that it opens and the cameras that it asks for, which can be taken away from it.
import type { Page } from 'playwright-core';

/**
 * A screen reader says what gets the focus, what changes within a region that was there before, and an alert also when
 * it appears.
 */
const listen = `
  const said = [];
  const say = (text) => { const short = (text ?? '').replace(/\\s+/g, ' ').trim(); if (short) said.push(short); };
  addEventListener('focusin', ({ target }) => say(target.getAttribute('aria-label') ?? target.textContent));
  new MutationObserver((records) => {
    const added = records.flatMap(({ addedNodes }) => [...addedNodes]);
    const isNew = (element) => added.some((node) => node.contains(element));
    const heard = new Set();
    for (const { target, addedNodes } of records) {
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        for (const alert of [node, ...node.querySelectorAll('*')])
          if (alert.getAttribute('role') === 'alert') heard.add(alert);
      }
      const element = target instanceof Element ? target : target.parentElement;
      const region = element?.closest('[role=status], [role=alert], [aria-live=polite]');
      if (region?.isConnected && !isNew(region)) heard.add(region);
    }
    for (const region of heard) say(region.textContent);
  }).observe(document, { subtree: true, childList: true, characterData: true });
`;

const sense = `
  const sounds = [];
  const shakes = [];
  class Part {
    gain = { setValueAtTime() {}, linearRampToValueAtTime() {} };
    frequency = { set value(hertz) { sounds.push(hertz); } };
    connect(to) { return to; }
    start() {}
    stop() {}
  }
  globalThis.AudioContext = class {
    state = 'suspended';
    currentTime = 0;
    async resume() { this.state = 'running'; }
    createOscillator() { return new Part(); }
    createGain() { return new Part(); }
  };
  Object.defineProperty(Navigator.prototype, 'vibrate', {
    value: (pattern) => { shakes.push([pattern].flat().join(' ')); return true; },
  });
`;

const hold = `
  const databases = [];
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...given) {
    const opening = open.apply(this, given);
    opening.addEventListener('success', () => databases.push(opening.result));
    return opening;
  };
  const failures = [];
  const { getUserMedia } = MediaDevices.prototype;
  MediaDevices.prototype.getUserMedia = async function (wanted) {
    const failure = failures.shift();
    if (failure && failure !== 'ended') throw new DOMException('', failure);
    const stream = await getUserMedia.call(this, wanted);
    if (failure === 'ended') for (const track of stream.getTracks()) track.stop();
    return stream;
  };
`;

/** Opens the address in the page, watched. */
export async function openWatched(page: Page, url: string): Promise<void> {
  const kept = 'globalThis.watched = { said, sounds, shakes, databases, failures };';
  await page.addInitScript(`(() => {${listen}${sense}${hold}${kept}})();`);
  await page.goto(url);
}

/** Returns what was noticed since the last call. */
export const noticed = <T = string>(page: Page, what: 'said' | 'sounds' | 'shakes'): Promise<T[]> =>
  page.evaluate(`watched.${what}.splice(0)`);

/** Closes the databases of the page, as a phone does in the background. */
export const closeDatabases = (page: Page): Promise<void> =>
  page.evaluate('watched.databases.splice(0).forEach((each) => each.close())');

/** What becomes of the next attempts to open the camera: a DOMException's name, or a track that has already ended. */
export const failCamera = (page: Page, failures: readonly string[]): Promise<void> =>
  page.evaluate(`void watched.failures.push(...${JSON.stringify(failures)})`);
