// The search of the site at /docs.
import MiniSearch, { type SearchResult } from 'minisearch';

interface Section {
  page: string;
  heading: string;
  text: string;
  href: string;
}

const folder = document.body.dataset.folder ?? '';
const most = 12;

async function loadIndex(): Promise<MiniSearch> {
  const sections: Section[] = await (await fetch(`${folder}search.json`)).json();
  const index = new MiniSearch({
    fields: ['heading', 'text'],
    storeFields: ['page', 'heading', 'href'],
    searchOptions: { boost: { heading: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return index;
}

function entry({ href, heading, page }: SearchResult): HTMLLIElement {
  const item = document.createElement('li');
  const link = item.appendChild(document.createElement('a'));
  link.href = folder + href;
  link.append(heading, Object.assign(document.createElement('small'), { textContent: page }));
  return item;
}

function startSearch(input: HTMLInputElement, found: HTMLElement): void {
  let index: Promise<MiniSearch> | undefined;
  const show = async () => {
    const words = input.value.trim();
    found.hidden = words === '';
    if (words === '') return;
    index ??= loadIndex();
    const results = (await index).search(words).slice(0, most);
    if (input.value.trim() !== words) return;
    const list = document.createElement('ul');
    list.append(...results.map(entry));
    found.replaceChildren(results.length > 0 ? list : 'Nothing found.');
  };
  input.addEventListener('input', () => void show());
  input.form?.addEventListener('submit', async (event) => {
    event.preventDefault();
    await show();
    found.querySelector('a')?.click();
  });
  found.addEventListener('click', () => {
    found.hidden = true;
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') found.hidden = true;
  });
}

const input = document.querySelector<HTMLInputElement>('#search');
const found = document.querySelector<HTMLElement>('#found');
if (input && found) startSearch(input, found);
