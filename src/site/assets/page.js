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
