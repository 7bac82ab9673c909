// The script of the web card: it queries the card every 3 s while the page is visible, shows what changed, and
// announces it to screen readers. A page that was opened before Google had the card is loaded again when it has.
// Without the script the card stays as it was when the page was loaded. All words come with the card, in its language.

export const cardScript = `'use strict';
const card = document.getElementById('card');
const at = (id) => document.getElementById(id);
let version;
function set(id, text) {
  const element = at(id);
  if (!element || element.textContent === String(text)) return false;
  element.textContent = text;
  return true;
}
function show(state) {
  if (set('balance', state.balance)) {
    at('balance').classList.remove('changed');
    void at('balance').offsetWidth;
    at('balance').classList.add('changed');
  }
  set('reward', state.reward);
  set('tier', state.tier);
  set('next', state.next);
  set('message', state.message ?? '');
  at('said').hidden = !state.message;
  set('full', state.full ?? '');
  if (at('celebration')) at('celebration').hidden = !state.full;
  set('status', state.notice);
  at('status').hidden = state.status === 'active';
  card.classList.toggle('void', state.status !== 'active');
  at('add').hidden = state.status !== 'active';
  const progress = at('progress');
  if (progress) {
    progress.max = state.aim.max || 1;
    progress.value = state.aim.value;
    progress.setAttribute('aria-label', state.aim.name);
  }
  document.querySelectorAll('#rewards li').forEach((line, index) => {
    const reward = state.rewards[index];
    if (!reward) return;
    line.classList.toggle('ready', reward.ready);
    line.querySelector('b').textContent = reward.state;
  });
  const expiring = at('expiring');
  if (expiring) {
    const lines = state.expiring.map((line) => Object.assign(document.createElement('li'), { textContent: line }));
    expiring.querySelector('ul').replaceChildren(...lines);
    expiring.hidden = lines.length === 0;
  }
  document.querySelectorAll('#stamps li').forEach((place, index) => place.classList.toggle('full', index < state.balance));
  const news = [state.unit + ': ' + state.balance + '.', state.message, state.full, state.notice];
  at('news').textContent = news.filter(Boolean).join(' ');
}
async function refresh() {
  if (document.hidden) return;
  const response = await fetch(card.dataset.state, { headers: { Accept: 'application/json' } });
  if (!response.ok) return;
  const state = await response.json();
  if (state.google && !at('google')) return location.reload();
  if (version !== undefined && state.version !== version) show(state);
  if (version === undefined && String(state.balance) !== at('balance').textContent) show(state);
  version = state.version;
}
const quietly = () => refresh().catch(() => {});
quietly();
setInterval(quietly, 3000);
document.addEventListener('visibilitychange', quietly);
`;
