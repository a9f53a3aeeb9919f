// Niceties only: every page reads and works without them.
document.addEventListener('keydown', (event) => {
  const { target } = event;
  const writing = target instanceof Element && target.closest('input, textarea, select') !== null;
  if (event.key !== '/' || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.getElementById('find');
  if (!(box instanceof HTMLInputElement)) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// A page that is left open says when its session may have ended: 15 minutes after it was last asked for.
const over = document.getElementById('session-over');
if (over !== null)
  setTimeout(
    () => {
      over.hidden = false;
    },
    15 * 60 * 1000,
  );

// One rule after the other, with the filters that the page was opened with.
document.addEventListener('keydown', (event) => {
  const { target } = event;
  const writing = target instanceof Element && target.closest('input, textarea, select') !== null;
  if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const way = { j: 'next', k: 'prev' }[event.key];
  if (way !== undefined) document.querySelector(`.reading a[rel=${way}]`)?.click();
});

// Copying: the text as it was published, character by character.
async function copy(text, element) {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    // Plain HTTP from another machine is no secure context: there the selection is copied, as by hand.
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
  // What could not be copied stays selected.
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
