import { afterAll, beforeAll, expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { openBrowser } from '../../pages/browser.ts';
import { type Hosted, onboard, startHosted } from '../../pages/hosted.ts';
import { openPasskeyBrowser, saved } from './passkey-browser.ts';

const flows = 60;

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'on', SVC_STARTS_PER_MINUTE: 'off' } });
});
afterAll(() => hosted.close());

const median = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

/** Measures the milliseconds from the start to the redirect, and counts the requests in that time. */
async function measured(flow: (send: Hosted['send']) => Promise<{ location: string }>) {
  let requests = 0;
  const send: Hosted['send'] = (...request) => {
    requests += 1;
    return hosted.send(...request);
  };
  const since = performance.now();
  const { location } = await flow(send);
  const ms = performance.now() - since;
  expect(location).toContain('code=');
  return { ms, requests };
}

// The two kinds of return alternate, so that a busy machine slows both.
it('a return by passkey takes 3 requests and less time than a return with the sandbox form, which takes 5', {
  timeout: within(120_000),
}, async () => {
  const { clientId } = await onboard(hosted);
  const { authenticator } = await saved(hosted, clientId);
  const byPasskey = (send: Hosted['send']) => {
    const browser = openPasskeyBrowser({ send });
    return browser
      .start(clientId)
      .then(() => browser.sendPasskey((options) => authenticator.get(options)))
      .then(({ answer }) => answer);
  };
  const byMethod = async (send: Hosted['send']) => {
    const browser = openBrowser({ send });
    await browser.start(clientId);
    await browser.press({ decision: 'accept' });
    return browser.press({ person: 'adult' });
  };
  const times = { passkey: [] as number[], method: [] as number[] };
  for (let n = 0; n < flows; n += 1) {
    const [passkey, method] = [await measured(byPasskey), await measured(byMethod)];
    expect([passkey.requests, method.requests]).toEqual([3, 5]);
    times.passkey.push(passkey.ms);
    times.method.push(method.ms);
  }
  const [passkey, method] = [median(times.passkey), median(times.method)];
  const figures = `${passkey.toFixed(1)} ms by passkey, ${method.toFixed(1)} ms by a method`;
  process.stdout.write(`\nMedian of ${flows} returns: ${figures}, ${(passkey / method).toFixed(2)}\n`);
  expect(passkey / method, figures).toBeLessThan(1);
});
