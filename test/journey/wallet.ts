import type { Browser } from './browser.ts';

const link = /href="([^"]*\/verify\/test-wallet\?[^"]*)"/;

/**
 * Completes the hosted flow with the test identity wallet.
 * @returns the partner's redirect address, with `code` or `error`
 */
export async function passWalletFlow(browser: Browser, startUrl: string): Promise<URL> {
  const consent = await browser.open(startUrl);
  const page = await browser.press(consent, 'decision=accept');
  const [, address] = link.exec(page.html) ?? [];
  if (!address)
    throw new Error(`${page.url} answered ${page.status} and has no link to the test identity wallet`);
  const wallet = await browser.open(address.replaceAll('&amp;', '&'));
  const end = await browser.press(wallet, 'act=present');
  if (end.html !== '') throw new Error(`the flow ended on a page of ours (${end.status}): ${end.url}`);
  return new URL(end.url);
}
