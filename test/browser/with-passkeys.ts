import type { Browser } from 'playwright-core';
import { newVisitor, type Visitor } from './chromium.ts';
import type { Shop } from './shop.ts';

/** Opens a browser on a device whose authenticator verifies its user. */
export async function withAuthenticator(browser: Browser, look: Parameters<typeof newVisitor>[1] = {}) {
  const visitor = await newVisitor(browser, look);
  const devtools = await visitor.page.context().newCDPSession(visitor.page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    ...visitor,
    setVerified: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    async passkeys() {
      return (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    },
    /** Sets the passkey's counter to zero, as on a copy of the authenticator. */
    async setCounterBack() {
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
      const [credential] = credentials;
      if (!credential) throw new Error('no passkey');
      await devtools.send('WebAuthn.clearCredentials', { authenticatorId });
      await devtools.send('WebAuthn.addCredential', {
        authenticatorId,
        credential: { ...credential, signCount: 0 },
      });
    },
  };
}
export type PasskeyVisitor = Awaited<ReturnType<typeof withAuthenticator>>;

/** Leads a browser from the shop to the offer of a passkey. */
export async function reachPasskeyOffer({ page }: Pick<Visitor, 'page'>, shop: Shop, person = 'new-adult') {
  await page.goto(shop.link());
  await page.locator('input[name=passkey][value=can]').waitFor({ state: 'attached' });
  await page.click('button[value=accept]');
  await page.click(`button[value=${person}]`);
  await page.locator('form.passkey:not([hidden]) button').waitFor();
}

/** Saves a passkey after a verification. */
export async function savePasskey(visitor: Pick<Visitor, 'page'>, shop: Shop, person?: string) {
  await reachPasskeyOffer(visitor, shop, person);
  await visitor.page.click('form.passkey button');
  await visitor.page.waitForURL(({ origin }) => origin === shop.origin);
}
