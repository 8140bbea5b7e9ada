import { expect } from 'vitest';
import type { TestPartner } from '../harness/partner.ts';
import type { Answer } from './conformance.ts';
import type { Harness } from './harness.ts';

export const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);
/** The answers with another status than the expected one, with their bodies, which say why. */
export const otherAnswers = (answers: readonly Answer[], expected: number) =>
  answers.filter(({ status }) => status !== expected).map(({ status, body }) => ({ status, body }));
export const retryAfter = ({ headers }: Answer) => Number(headers.get('retry-after'));

/** Makes `count` calls, at most 50 at a time. */
export async function many(count: number, call: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) {
    const size = Math.min(50, count - answers.length);
    const from = answers.length;
    answers.push(...(await Promise.all(Array.from({ length: size }, (_, index) => call(from + index)))));
  }
  return answers;
}

/** Checks that exactly `limit` calls pass in a minute, that the next gets 429 with the wait, and that later calls pass. */
export async function expectPerMinute(
  harness: Harness,
  limit: number,
  { call, passes }: { call: () => Promise<Answer>; passes: number },
): Promise<void> {
  harness.clock.advance(17_000);
  expect(otherAnswers(await many(limit, call), passes)).toEqual([]);
  const over = await call();
  expect(over.status).toBe(429);
  expect(retryAfter(over)).toBe(43);
  harness.clock.advance(42_999);
  expect(retryAfter(await call())).toBe(1);
  harness.clock.advance(1);
  expect((await call()).status).toBe(passes);
}

/** Creates a partner with an enrolled user. Each call of `spend` asks for the user's claims, which is charged. */
export async function spender(harness: Harness, funds: number) {
  const partner = await harness.partner({ funds });
  await harness.verifyUser(partner, 'adult', 'age_18_plus');
  const body = { enrollment_id: await harness.enrollment(partner), claims: ['age_18_plus'] };
  let asked = 0;
  const spend = () => {
    asked += 1;
    return harness.checkbox(partner, body, `request-${asked}`);
  };
  return { partner, spend };
}
export const limitsOf = ({ partnerId }: TestPartner) => ({ partnerId, mode: 'test' as const });
