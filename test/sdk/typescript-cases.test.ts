import { expect, it } from 'vitest';
import { allCases, callbackCases, errorCases, typescript } from './cases.ts';

it.each(callbackCases)(
  'a redirect with %s has the same result as in every SDK',
  async (_about, given, answer) => {
    expect(await typescript.callback(given)).toEqual(answer);
  },
);

it.each(errorCases)(
  'a refusal with %s becomes the same error as in every SDK',
  async (_about, given, answer) => {
    expect(await typescript.error(given)).toEqual(answer);
  },
);

it('every random case has a result, and never an error of the language', async () => {
  const { callbacks, deliveries, errors } = await allCases();
  expect([callbacks, deliveries, errors].map(({ length }) => length > 400)).toEqual([true, true, true]);
});
