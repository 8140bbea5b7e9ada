import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimNames } from '../../../contracts/claims.ts';
import { usesOf } from '../../../server/pages/views/purpose.ts';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterAll(() => hosted.close());

describe('the purpose on the consent page', () => {
  it("is quoted as the partner's words, with HTML escaped", async () => {
    const { clientId } = await onboard(hosted);
    const purpose = 'To sell <b>wine</b> & "beer"\u202E';
    const clients = hosted.db.collection<{ _id: string }>('clients');
    await clients.updateOne({ _id: clientId }, { $set: { purpose } });
    const { body } = await openBrowser(hosted).start(clientId);
    expect(body).toContain('says:</p>');
    expect(body).toContain(
      '<blockquote dir="auto">To sell &lt;b&gt;wine&lt;/b&gt; &amp; &quot;beer&quot;</blockquote>',
    );
  });

  it('is derived from the requested claims if the client has no purpose', async () => {
    const { clientId } = await onboard(hosted, { claims: ['age_18_plus', 'age_21_plus', 'country'] });
    const { body } = await openBrowser(hosted).start(clientId, { scope: 'age_18_plus age_21_plus country' });
    expect(body).not.toContain('blockquote');
    expect(body.match(/<li>(check|be sure|follow|judge)/g)).toEqual(['<li>check', '<li>follow']);
    expect(usesOf(claimNames)).toEqual(['age', 'identity', 'country', 'assurance']);
  });
});
