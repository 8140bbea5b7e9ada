// Search, copy buttons and language tabs. Without this script every page has its whole text, all languages included.
'use strict';

const script = document.currentScript;
const element = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

/* Copy buttons. */
for (const block of document.querySelectorAll('figure > pre')) {
  const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  block.parentElement.append(button);
}

/* Language tabs: the chosen language is kept for all pages. */
const storage = {
  get: () => {
    try {
      return localStorage.getItem('language');
    } catch {
      return null;
    }
  },
  set: (value) => {
    try {
      localStorage.setItem('language', value);
    } catch {
      // A browser that keeps nothing shows the first language again.
    }
  },
};
const groups = [...document.querySelectorAll('.tabs')].map((group, number) => {
  const panels = [...group.children];
  const list = element('div', { role: 'tablist', ariaLabel: 'Language' });
  const tabs = panels.map((panel, n) => {
    const label = panel.dataset.label;
    panel.id = `panel-${number}-${n}`;
    panel.role = 'tabpanel';
    panel.ariaLabel = label;
    const tab = element('button', { type: 'button', role: 'tab', textContent: label });
    tab.setAttribute('aria-controls', panel.id);
    tab.addEventListener('click', () => {
      storage.set(label);
      choose(label);
    });
    return tab;
  });
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
  list.append(...tabs);
  group.prepend(list);
  return { panels, tabs };
});

/** Shows one language wherever there is a choice; a group without it keeps what it shows. */
function choose(label) {
  for (const { panels, tabs } of groups) {
    const known = panels.findIndex((panel) => panel.dataset.label === label);
    const shown = known >= 0 ? known : Math.max(0, tabs.findIndex((tab) => tab.ariaSelected === 'true'));
    panels.forEach((panel, n) => (panel.hidden = n !== shown));
    tabs.forEach((tab, n) => {
      tab.ariaSelected = String(n === shown);
      tab.tabIndex = n === shown ? 0 : -1;
    });
  }
}

/** A link to a heading inside a tab opens that tab. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const panel = target?.closest('.tabs > [data-label]');
  if (!panel) return;
  choose(panel.dataset.label);
  target.scrollIntoView();
}
choose(storage.get());
openTarget();
addEventListener('hashchange', openTarget);

/* Search. */
const search = document.querySelector('search');
const input = search.querySelector('input');
const status = search.querySelector('[role=status]');
const results = search.querySelector('ol');
const most = 12;
let index;

/** Sections that have every word of the query or one that begins with it, the best first. */
function find({ sections, pages, words }, query) {
  const asked = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  if (asked.length === 0) return [];
  const scores = asked.map((term) => {
    const found = new Map();
    for (const [word, ids] of Object.entries(words)) {
      if (!word.startsWith(term)) continue;
      const score = word === term ? 2 : 1;
      for (const id of ids.split(' ')) found.set(id, Math.max(score, found.get(id) ?? 0));
    }
    return found;
  });
  return [...scores[0].keys()]
    .filter((id) => scores.every((found) => found.has(id)))
    .map((id) => {
      const [page, anchor, heading] = sections[parseInt(id, 36)];
      const [address, title, area] = pages[page];
      const titled = asked.filter((term) => heading.toLowerCase().includes(term)).length;
      const exact = heading.toLowerCase() === query.trim().toLowerCase() ? 20 : 0;
      const score =
        scores.reduce((sum, found) => sum + found.get(id), 0) + 4 * titled + exact + (anchor ? 0 : 1) + (area === 'Guides' ? 1 : 0);
      return { score, heading, title, href: new URL(address + (anchor && `#${anchor}`), script.src).href };
    })
    .sort((a, b) => b.score - a.score);
}

async function show() {
  const query = input.value;
  index ??= fetch(new URL('search.json', script.src)).then((response) => response.json());
  const found = query.trim() ? find(await index, query) : [];
  if (query !== input.value) return;
  results.replaceChildren(
    ...found.slice(0, most).map(({ heading, title, href }) => {
      const link = element('a', { href, textContent: heading });
      if (heading !== title) link.append(element('small', { textContent: title }));
      const item = element('li');
      item.append(link);
      return item;
    }),
  );
  const count = found.length === 1 ? '1 section' : `${found.length} sections`;
  status.textContent = query.trim() ? count : '';
  search.classList.toggle('open', query.trim() !== '');
}

function close() {
  input.value = '';
  void show();
}

input.addEventListener('input', show);
search.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Escape') close();
  else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else if (event.key === 'Enter' && document.activeElement === input) links[0]?.click();
  else return;
  event.preventDefault();
});
results.addEventListener('click', close);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(?:INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  input.focus();
});
search.hidden = false;
