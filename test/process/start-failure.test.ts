import { expect, it } from 'vitest';
import { startFailureText } from '../../server/process/start-failure.ts';

const failure = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

it.each([
  [
    failure('MongoServerSelectionError', 'connect ECONNREFUSED 127.0.0.1:1', {
      reason: { servers: new Map([['db.example:27017', {}]]) },
    }),
    'MONGODB_URI: the database at db.example:27017 cannot be used: connect ECONNREFUSED 127.0.0.1:1',
  ],
  [
    failure('MongoServerError', 'Authentication failed.', { code: 18 }),
    'MONGODB_URI: the database cannot be used: Authentication failed. Correct the user, the password or authSource.',
  ],
  [
    failure('Error', "EEXIST: file already exists, mkdir '/data/db'", { code: 'EEXIST', path: '/data/db' }),
    "SVC_DATA_DIR: the directory cannot be used: EEXIST: file already exists, mkdir '/data/db'",
  ],
  [
    failure('Error', 'querySrv ENOTFOUND _mongodb._tcp.db.example', { syscall: 'querySrv' }),
    'MONGODB_URI: the database cannot be found: querySrv ENOTFOUND _mongodb._tcp.db.example',
  ],
  [failure('StartFault', 'Port 1 is taken'), 'Port 1 is taken'],
  ['a text', 'a text'],
])('a failed start names the setting that is to blame: %s', (error, text) => {
  expect(startFailureText(error, '/data')).toBe(text);
});
