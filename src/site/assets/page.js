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
