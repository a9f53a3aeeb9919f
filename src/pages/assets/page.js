// Every page works without this script. `/` leads to the search, j and k to the next and the previous rule. A reader
// may switch these keys off in this browser (WCAG 2.1.4).
const keysOff = 'gapstone-keys-off';
const store = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();
const hasKeys = () => store?.getItem(keysOff) !== 'yes';

const look = document.getElementById('shortcut-keys');
if (look !== null && store !== null) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  const say = () => {
    button.textContent = hasKeys() ? 'Shortcut keys on' : 'Shortcut keys off';
    button.setAttribute('aria-pressed', String(hasKeys()));
    for (const each of document.querySelectorAll('.keys')) each.hidden = !hasKeys();
  };
  button.addEventListener('click', () => {
    if (hasKeys()) store.setItem(keysOff, 'yes');
    else store.removeItem(keysOff);
    say();
  });
  say();
  look.append(button);
  look.hidden = false;
}

document.addEventListener('keydown', (event) => {
  const { target } = event;
  const writing = target instanceof Element && target.closest('input, textarea, select') !== null;
  if (!hasKeys() || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const way = { j: 'next', k: 'prev' }[event.key];
  if (way !== undefined) document.querySelector(`.reading a[rel=${way}]`)?.click();
  if (event.key !== '/') return;
  const box = document.getElementById('find');
  if (!(box instanceof HTMLInputElement)) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// Says so two minutes before a session ends, and keeps what a reader typed until the reader has signed in again: in this
// browser, under a key of that reader, until it is sent or the reader signs out.
const usedName = 'gapstone-used';
const longestStored = 12 * 3600 * 1000;
const here = new URL(location.href);
for (const name of ['done', 'count']) here.searchParams.delete(name);
const typedName = (reader) => `gapstone-typed ${reader} ${here.pathname}${here.search}`;
const forms = () => [
  ...document.querySelectorAll('main form[method=post]:not([action="/signin"], [action="/session"])'),
];
const isTick = ({ type }) => type === 'checkbox' || type === 'radio';
const fieldsOf = (form) =>
  [...form.elements].filter(({ name, type }) => name && !/^(hidden|file|password|submit|button)$/.test(type));
const isChanged = (field) =>
  isTick(field)
    ? field.checked !== field.defaultChecked
    : field.defaultValue === undefined
      ? [...field.options].some(
          (option) => option.selected !== option.defaultSelected && option.defaultSelected,
        )
      : field.value !== field.defaultValue;

/** What is kept, by name; what is too old is forgotten. */
function typedEntries() {
  const names = Object.keys(store ?? {}).filter((name) => name.startsWith('gapstone-typed '));
  const entries = names.map((name) => [name, JSON.parse(store.getItem(name))]);
  for (const [name, { at }] of entries) if (Date.now() - at > longestStored) store.removeItem(name);
  return entries.filter(([, { at }]) => Date.now() - at <= longestStored);
}

function storeTyped(reader, isBack = false) {
  if (!forms().some((form) => fieldsOf(form).some(isChanged))) return;
  const typed = forms().map((form) =>
    fieldsOf(form).map((field) => [field.name, isTick(field) ? field.checked : field.value]),
  );
  store?.setItem(typedName(reader), JSON.stringify({ at: Date.now(), isBack, typed }));
}

/** Puts back what this reader typed here before signing in again; what was sent since is forgotten. */
function putBack(reader) {
  const entries = typedEntries();
  const [, kept] = entries.find(([name]) => name === typedName(reader)) ?? [];
  for (const [name, { isBack }] of entries) if (!isBack || name === typedName(reader)) store.removeItem(name);
  if (!kept?.isBack || kept.typed.length !== forms().length) return false;
  for (const [index, form] of forms().entries())
    for (const [place, field] of fieldsOf(form).entries()) {
      const [name, value] = kept.typed[index][place] ?? [];
      if (name === field.name) field[isTick(field) ? 'checked' : 'value'] = value;
    }
  return true;
}

const over = document.getElementById('session-over');
if (over !== null) {
  const { reader } = over.dataset;
  const warnedBefore = 120_000;
  const idle = Number(over.dataset.idle) * 1000;
  let end = Date.now() + Number(over.dataset.left) * 1000;
  const say = (when) => {
    for (const text of over.querySelectorAll('[data-when]')) text.hidden = text.dataset.when !== when;
    over.hidden = when === null;
  };
  const sayOver = () => {
    say('over');
    storeTyped(reader);
  };
  const isWarned = () =>
    over.querySelector('[data-when=soon]:not([hidden]), [data-when=last]:not([hidden])') !== null;
  let lastUse = Date.now();
  // Another page of this browser may have used the session since.
  const used = () => Math.max(lastUse, Number(store?.getItem(usedName) ?? 0));
  const use = () => {
    lastUse = Date.now();
    store?.setItem(usedName, String(lastUse));
  };
  const look = () => {
    const idleEnd = used() + idle;
    const left = Math.min(idleEnd, end) - Date.now();
    if (left <= 0) {
      sayOver();
      return;
    }
    if (left <= warnedBefore) say(end <= idleEnd ? 'last' : 'soon');
    else if (isWarned()) say(null);
    setTimeout(look, Math.min(left > warnedBefore ? left - warnedBefore : left, 5000));
  };
  use();
  if (putBack(reader)) say('back');
  look();
  over.querySelector('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const response = await fetch('/session', { method: 'POST', headers: { Accept: 'application/json' } });
      if (!response.ok) throw new Error('over');
      end = Date.now() + (await response.json()).secondsLeft * 1000;
      use();
      say(null);
    } catch {
      sayOver();
    }
  });
  // The session may still last when its reader goes to sign in again.
  for (const link of over.querySelectorAll('a'))
    link.addEventListener('click', () => storeTyped(reader, true));
  for (const form of forms())
    form.addEventListener('submit', () => {
      for (const [name, { isBack }] of typedEntries()) if (isBack) store.removeItem(name);
      storeTyped(reader);
    });
  for (const form of document.querySelectorAll('form[action="/signout"]'))
    form.addEventListener('submit', () => {
      for (const [name] of typedEntries()) store.removeItem(name);
    });
} else if (document.querySelector('form[action="/signin"]') !== null)
  // What was typed waits for its reader to come back.
  for (const [name, entry] of typedEntries()) store.setItem(name, JSON.stringify({ ...entry, isBack: true }));

// Copies the published text, character by character.
async function copy(text, element) {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    // Browsers offer no clipboard over plain HTTP from another machine: copy the selection instead.
  }
  const selection = getSelection();
  selection.selectAllChildren(element);
  const put = (event) => {
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', put, { once: true });
  const isCopied = document.execCommand('copy');
  document.removeEventListener('copy', put);
  // The text stays selected, for the reader to copy.
  if (!isCopied) throw new Error('select');
  selection.removeAllRanges();
}

function addCopyButton(element, name, place, text = element.textContent) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.setAttribute('aria-label', `Copy ${name}`);
  button.addEventListener('click', async () => {
    try {
      await copy(text, element);
    } catch {
      button.setAttribute('aria-label', `The ${name} is selected: press Ctrl+C to copy it`);
      return;
    }
    button.classList.add('done');
    button.setAttribute('aria-label', `Copied ${name}`);
    setTimeout(() => {
      button.classList.remove('done');
      button.setAttribute('aria-label', `Copy ${name}`);
    }, 2000);
  });
  place(button);
}

for (const prose of document.querySelectorAll('[data-copy]')) {
  const head = prose.closest('section').querySelector('.section-head');
  addCopyButton(prose, prose.dataset.copy, (button) => head.append(button));
  for (const typed of prose.querySelectorAll('kbd'))
    addCopyButton(typed, 'command', (button) => typed.parentElement.prepend(button));
}

// The text of an id, the whole address of a link.
for (const id of document.querySelectorAll('[data-cite]')) {
  const text = id.dataset.cite === 'link' ? id.href : id.textContent;
  addCopyButton(id, id.dataset.cite, (button) => id.after(' ', button), text);
}

// An open menu closes with Escape, and where a reader presses elsewhere.
const closeMenus = (kept) => {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(kept)) menu.open = false;
};
document.addEventListener('click', ({ target }) => closeMenus(target));
document.addEventListener('keydown', ({ key, target }) => {
  if (key !== 'Escape') return;
  target.closest?.('details.menu[open]')?.querySelector('summary').focus();
  closeMenus(null);
});

// The names of several selected files: browsers show only their number.
for (const field of document.querySelectorAll('input[type=file][multiple]')) {
  const names = document.createElement('p');
  names.className = 'hint';
  names.setAttribute('role', 'status');
  field.after(names);
  field.addEventListener('change', () => {
    names.textContent = field.files.length < 2 ? '' : [...field.files].map(({ name }) => name).join(', ');
  });
}
