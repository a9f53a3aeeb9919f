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

const look = document.querySelector('form.theme');
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
// browser, under a key of that reader, until signing out.
const typedName = (reader, path) => `gapstone-typed ${reader} ${path}`;
const usedName = 'gapstone-used';
const here = location.pathname + location.search.replace(/[?&]done=signed-in$/, '');
const fieldsOf = (form) =>
  [...form.elements].filter(
    ({ name, type }) => name && !['hidden', 'file', 'password', 'submit'].includes(type),
  );

function typedEntries() {
  return Object.keys(store ?? {}).filter((name) => name.startsWith('gapstone-typed '));
}

function keepTyped(reader) {
  const forms = [...document.querySelectorAll('main form[method=post]')].map((form) =>
    fieldsOf(form).map((field) => [field.name, field.value, field.checked ?? null]),
  );
  const isChanged = [...document.querySelectorAll('main form[method=post]')].some((form) =>
    fieldsOf(form).some(
      (field) =>
        (field.defaultValue !== undefined &&
          field.type !== 'checkbox' &&
          field.value !== field.defaultValue) ||
        (field.defaultChecked !== undefined && field.checked !== field.defaultChecked),
    ),
  );
  if (isChanged)
    store?.setItem(typedName(reader, here), JSON.stringify({ at: Date.now(), back: false, forms }));
}

/** Puts back what this reader typed here before signing in again; forgets what was sent. */
function putBack(reader) {
  const name = typedName(reader, here);
  const kept = JSON.parse(store?.getItem(name) ?? 'null');
  store?.removeItem(name);
  if (kept === null || !kept.back || Date.now() - kept.at > 12 * 3600 * 1000) return false;
  const forms = [...document.querySelectorAll('main form[method=post]')];
  if (forms.length !== kept.forms.length) return false;
  forms.forEach((form, index) => {
    const fields = fieldsOf(form);
    kept.forms[index].forEach(([fieldName, value, checked], place) => {
      const field = fields[place];
      if (field?.name !== fieldName) return;
      if (field.type === 'checkbox' || field.type === 'radio') field.checked = checked;
      else field.value = value;
    });
  });
  return true;
}

const over = document.getElementById('session-over');
if (over !== null) {
  const { reader } = over.dataset;
  const idle = Number(over.dataset.idle) * 1000;
  let end = Date.now() + Number(over.dataset.left) * 1000;
  const say = (when) => {
    for (const text of over.querySelectorAll('[data-when]')) text.hidden = text.dataset.when !== when;
    over.hidden = when === null;
  };
  const used = () => Number(store?.getItem(usedName) ?? lastUse);
  let lastUse = Date.now();
  const use = () => {
    lastUse = Date.now();
    store?.setItem(usedName, String(lastUse));
  };
  const look = () => {
    const now = Date.now();
    const idleEnd = Math.max(used(), lastUse) + idle;
    const left = Math.min(idleEnd, end) - now;
    if (left <= 0) {
      say('over');
      keepTyped(reader);
      return;
    }
    if (left <= 120_000) say(end <= idleEnd ? 'last' : 'soon');
    else if (over.querySelector('[data-when=back]').hidden) say(null);
    setTimeout(look, Math.min(left, Math.max(250, left > 120_000 ? left - 120_000 : left), 30_000));
  };
  use();
  if (putBack(reader)) say('back');
  look();
  over.querySelector('button').addEventListener('click', async () => {
    try {
      const response = await fetch('/session', { method: 'POST', headers: { Accept: 'application/json' } });
      if (!response.ok) throw new Error('over');
      end = Date.now() + (await response.json()).secondsLeft * 1000;
      use();
      say(null);
    } catch {
      keepTyped(reader);
      say('over');
    }
  });
  for (const form of document.querySelectorAll('main form[method=post]'))
    form.addEventListener('submit', () => keepTyped(reader));
  for (const form of document.querySelectorAll('form[action="/signout"]'))
    form.addEventListener('submit', () => {
      for (const name of typedEntries()) store.removeItem(name);
    });
} else if (location.pathname === '/signin' || document.querySelector('form[action="/signin"]') !== null)
  // What was typed waits for its reader to come back.
  for (const name of typedEntries())
    store.setItem(name, JSON.stringify({ ...JSON.parse(store.getItem(name)), back: true }));

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

function addCopyButton(element, name, place) {
  const text = element.textContent;
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

for (const id of document.querySelectorAll('[data-cite]'))
  addCopyButton(id, id.dataset.cite, (button) => id.after(' ', button));

// The button beside stays for readers without script.
for (const select of document.querySelectorAll('select[data-submit]'))
  select.addEventListener('change', () => select.form.submit());

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
