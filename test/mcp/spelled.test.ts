import * as assert from 'uvu/assert';
import { AppError } from '../../src/base/errors.ts';
import { Missing, stigOf } from '../../src/catalog/search/spelled.ts';
import { suite } from '../support/harness.ts';

const test = suite('A STIG as people name it');

const found = [{ slug: 'harbor', title: 'Harbor', version: 'V1R2', release: null }];

/** What `stigOf` throws where reading the release throws something. */
function thrown(error: Error): unknown {
  const stigs = {
    release: () => {
      throw error;
    },
    retained: () => [],
  };
  const stigNames = { exactly: () => found, said: () => [] };
  try {
    stigOf({ stigs, stigNames } as never, 'Harbor V1R1', 'V1R1');
  } catch (caught) {
    return caught;
  }
}

test('a release that is not there is not imported; any other error is itself', () => {
  const missing = thrown(new AppError('NOT_FOUND', 'Not found'));
  assert.ok(missing instanceof Missing);
  assert.is(missing.answer.reason, 'not_imported');
  for (const error of [
    Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' }),
    new TypeError('not a function'),
    new AppError('UNAVAILABLE', 'The catalog is being changed'),
  ])
    assert.is(thrown(error), error);
});

test.run();
