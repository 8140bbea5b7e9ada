import { expect, it } from 'vitest';
import { allCases, callbackCases, errorCases, typescript } from './cases.ts';

it.each(callbackCases)(
  'the TypeScript SDK gives in callback the result in the shared test cases of all SDKs, for a redirect with %s',
  async (_about, given, answer) => {
    expect(await typescript.callback(given)).toEqual(answer);
  },
);

it.each(errorCases)(
  'the TypeScript SDK throws the error from the shared test cases of all SDKs, for a refusal with %s',
  async (_about, given, answer) => {
    expect(await typescript.error(given)).toEqual(answer);
  },
);

it('the TypeScript SDK throws no error of an unexpected class for 1,200 random callbacks, deliveries and errors', async () => {
  const { callbacks, deliveries, errors } = await allCases();
  expect([callbacks, deliveries, errors].map(({ length }) => length > 400)).toEqual([true, true, true]);
});
