// "Try it" of the API reference: sends the request of a form to this server, with the session of the browser.
const longest = 200_000;

for (const form of document.querySelectorAll('form.try')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send(form) {
  const output = form.querySelector('output');
  const fields = new FormData(form);
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const [name, value] of fields) {
    if (name.startsWith('path:')) path = path.replace(`{${name.slice(5)}}`, encodeURIComponent(value));
    if (name.startsWith('query:') && value !== '') query.append(name.slice(6), value);
  }
  const address = query.size === 0 ? path : `${path}?${query}`;
  const init = { method: form.dataset.method.toUpperCase(), credentials: 'same-origin' };
  if (fields.has('body')) init.body = fields.get('body');
  show(output, `${init.method} ${address}`, 'Waiting for the response');
  try {
    const started = performance.now();
    const response = await fetch(address, init);
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - started);
    const type = response.headers.get('Content-Type') ?? 'no content';
    show(
      output,
      `${init.method} ${address}`,
      `${response.status} · ${type} · ${milliseconds} ms`,
      readable(text, type),
    );
  } catch (error) {
    show(output, `${init.method} ${address}`, `No response: ${error.message}`);
  }
}

function readable(text, type) {
  let shown = text;
  if (type.startsWith('application/json')) {
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Show text that is not valid JSON unchanged.
    }
  }
  return shown.length > longest
    ? `${shown.slice(0, longest)}\n… ${shown.length - longest} more characters`
    : shown;
}

function show(output, request, status, body) {
  output.replaceChildren();
  for (const text of [request, status]) {
    const line = document.createElement('p');
    line.className = 'mono';
    line.textContent = text;
    output.append(line);
  }
  if (!body) return;
  const block = document.createElement('pre');
  block.tabIndex = 0;
  block.textContent = body;
  output.append(block);
}
