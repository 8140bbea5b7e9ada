import { expect, it } from 'vitest';
import { allCases, callbackCases, errorCases, typescript } from './cases.ts';

it.each(callbackCases)(
  'callback of the TypeScript SDK has the result that every SDK must have for a redirect with %s',
  async (_about, given, answer) => {
    expect(await typescript.callback(given)).toEqual(answer);
  },
);

it.each(errorCases)(
  'the TypeScript SDK makes the error that every SDK must make of a refusal with %s',
  async (_about, given, answer) => {
    expect(await typescript.error(given)).toEqual(answer);
  },
);

it('the TypeScript SDK has a result for every random case, and never an error of another class', async () => {
  const { callbacks, deliveries, errors } = await allCases();
  expect([callbacks, deliveries, errors].map(({ length }) => length > 400)).toEqual([true, true, true]);
});
