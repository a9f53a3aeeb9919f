// A worker whose job `loop` never ends, `crash` ends it and `fail` throws, `listChecklists` takes a moment; any other answers its name.
import { parentPort } from 'node:worker_threads';

parentPort.postMessage('ready');
parentPort.on('message', ({ name }) => {
  if (name === 'loop') for (;;);
  if (name === 'crash') throw new Error('crashed');
  if (name === 'fail')
    return parentPort.postMessage({
      refused: { code: 'NOT_FOUND', message: 'Not found', headers: { 'X-Why': 'none' }, field: 'list' },
    });
  setTimeout(() => parentPort.postMessage({ value: name }), name === 'listChecklists' ? 200 : 0);
});
