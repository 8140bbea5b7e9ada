import { describe, expect, it } from 'vitest';
import { createInputBinding } from '../../../server/console/portal/calls/bind-input.ts';

const member = { memberId: 'mem_a', partnerId: 'ptr_a', role: 'owner', isFresh: true } as const;

/** Binds a call that names so many deliveries, and counts the look-ups of their owner. */
async function bindWithDeliveries(count: number) {
  let reads = 0;
  const bindInput = createInputBinding(async () => {
    reads += 1;
    return undefined;
  });
  const deliveryIds = Array.from({ length: count }, (_id, index) => `dlv_${index}`);
  const bound = bindInput(member, 'deliveries.resend', { deliveryIds });
  return { outcome: await bound.then(() => 'bound').catch(({ code }) => code), reads };
}

describe('the input of a call by a member of a partner', () => {
  it('may name as many records as the schema of deliveries.resend allows', async () => {
    expect(await bindWithDeliveries(500)).toEqual({ outcome: 'bound', reads: 1 });
  });

  it('is refused before any read of the database if it names more records', async () => {
    expect(await bindWithDeliveries(501)).toEqual({ outcome: 'bad_input', reads: 0 });
  });
});

describe('a filter with the name of a member of every object', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'])(
    'names no record, so %s is left to the schema of the procedure',
    async (name) => {
      const bindInput = createInputBinding(async (_kind, [first]) => first);
      const filter = JSON.parse(`{"${name}":"x"}`) as object;
      const bound = await bindInput(member, 'bulk.start', { action: 'resend', filter });
      expect(bound).toMatchObject({ action: 'resend', filter: { partnerId: member.partnerId } });
    },
  );
});
