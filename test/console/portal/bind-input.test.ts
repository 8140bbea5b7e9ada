import { describe, expect, it } from 'vitest';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import { createInputBinding } from '../../../server/console/portal/calls/bind-input.ts';
import { identifyingFields, scope } from '../../../server/console/portal/calls/scope.ts';
import { permissions } from '../../../server/platform/admin-api/roles.ts';
import { letters, roles, table } from './scope-table.ts';

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

describe('the scope of a member', () => {
  const own = 'own';
  /** Binds an input, where the record `foreign` belongs to another partner. @returns the bound input, or the error's code */
  function bind(role: MemberRole, path: string, input: object, isFresh = true) {
    const bindInput = createInputBinding(async (_kind, ids) => ids.find((id) => id === 'foreign'));
    const caller = { memberId: own, partnerId: own, role, isFresh };
    return bindInput(caller, path, input).catch(({ code }) => code as string);
  }

  it('allows each role exactly the procedures of the table, of all that operators have', async () => {
    const paths = new Set([...Object.keys(permissions), ...Object.keys(scope), ...Object.keys(table)]);
    for (const path of paths) {
      const expected = (role: MemberRole) => {
        if (!table[path]) return 'route_not_found';
        return table[path].includes(letters[role]) ? 'may' : 'not_permitted';
      };
      for (const role of roles) {
        const bound = await bind(role, path, scope[path]?.isOnlySelf ? { memberId: own } : {});
        expect([path, role, typeof bound === 'string' ? bound : 'may']).toEqual([path, role, expected(role)]);
      }
    }
    expect(Object.keys(scope).toSorted()).toEqual(Object.keys(table).toSorted());
  });

  it("answers not_found to another partner's id in every field that names a record, and sets the own partner", async () => {
    let tried = 0;
    for (const [path, { roles: allowed, fields, cursorKind }] of Object.entries(scope)) {
      const [role = 'owner'] = allowed;
      for (const field of fields) {
        if (field === 'after' ? !cursorKind : !identifyingFields.has(field)) continue;
        const inputOf = (id: string) => ({ [field]: field.endsWith('Ids') ? [own, id] : id });
        expect([path, field, await bind(role, path, inputOf('foreign'))]).toEqual([path, field, 'not_found']);
        const bound = await bind(role, path, inputOf(own));
        expect([path, field, typeof bound]).toEqual([path, field, 'object']);
        tried += 1;
      }
      if (fields.includes('partnerId')) expect(await bind(role, path, {})).toMatchObject({ partnerId: own });
    }
    expect(tried).toBeGreaterThan(80);
  });

  it("is limited to the member's own record for its wishes", async () => {
    for (const path of ['members.wishes', 'members.setWishes']) {
      expect(await bind('viewer', path, { memberId: 'colleague' })).toBe('not_permitted');
      expect(await bind('viewer', path, {})).toBe('not_permitted');
    }
  });

  it('demands a recent passkey where the scope says so', async () => {
    for (const [path, { roles: allowed, needsFreshPasskey }] of Object.entries(scope)) {
      const bound = await bind(allowed[0] ?? 'owner', path, {}, false);
      expect([path, bound === 'passkey_required']).toEqual([path, needsFreshPasskey]);
    }
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
