import { describe, expect, it } from 'vitest';
import { type Answer, allCases, callbackCases, errorCases, typescript } from './cases.ts';

/** The result of `callback` in words. An error has one field or four, a success two. */
function callbackResult([code, reason, ...more]: Answer): string {
  const error = `throws ${code === '\uFFFD' ? 'the code U+FFFD' : code}`;
  if (more.length > 0)
    return `${error} ${reason === null ? 'without a reason' : `with the reason ${reason}`}`;
  return reason === undefined ? error : 'returns the code';
}

/** The error of a refused call in words. */
function errorResult([code, seconds, isRetryable]: Answer): string {
  if (!isRetryable) return `${code}, not retryable,`;
  return `${code}, retryable${seconds === null ? '' : ` after ${seconds} s`},`;
}

describe('callback of the TypeScript SDK', () => {
  const cases = callbackCases.map(
    ([about, given, answer]) => [callbackResult(answer), about, given, answer] as const,
  );

  it.each(cases)('%s for a redirect with %s', async (_result, _about, given, answer) => {
    expect(await typescript.callback(given)).toEqual(answer);
  });
});

describe('a call of the TypeScript SDK', () => {
  const cases = errorCases.map(
    ([about, given, answer]) => [errorResult(answer), about, given, answer] as const,
  );

  it.each(cases)('throws %s for %s', async (_result, _about, given, answer) => {
    expect(await typescript.error(given)).toEqual(answer);
  });
});

it('the TypeScript SDK throws no error of an unexpected class for 1,200 random callbacks, deliveries and errors', async () => {
  const { callbacks, deliveries, errors } = await allCases();
  expect([callbacks, deliveries, errors].map(({ length }) => length > 400)).toEqual([true, true, true]);
});
