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

// A session ends 15 minutes after its last request: an open page says so.
const over = document.getElementById('session-over');
if (over !== null)
  setTimeout(
    () => {
      over.hidden = false;
    },
    15 * 60 * 1000,
  );

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
