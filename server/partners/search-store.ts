import type { Db, Document } from 'mongodb';
import { type IdentifierKind, identifierKind } from '../../contracts/identifiers.ts';
import { unifyForms } from '../../contracts/input-text.ts';
import { collection as clientCollection } from './clients/client-store.ts';
import { integrationCollection } from './integrations/integration-store.ts';
import { collection as keyCollection } from './keys/key-store.ts';
import { collection as memberCollection } from './members/member-store.ts';
import { collection as partnerCollection } from './partner-store.ts';

/** A match of a search: the partner, and a text that says where the match was found. */
export interface Match {
  partnerId: string;
  found: string;
}

/** The most matches of one kind that are read. */
export const mostMatches = 500;
/** The longest time that one query may take, in milliseconds. */
export const queryTimeoutMs = 2_000;

/** Escapes a text for use in a regular expression. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Returns the host of an address such as `https://shop.example/x`. A text without a host is returned unchanged. */
function hostIn(text: string): string {
  const host = URL.canParse(text) ? new URL(text).host : '';
  return host === '' ? text : host;
}

/** The fields that contain the last four characters of secrets, each with the words that name the secret in a match. */
const lastFourFields = [
  { collection: keyCollection, field: 'last4', secret: 'API key' },
  { collection: keyCollection, field: 'oldSecrets.last4', secret: 'old secret of API key' },
  { collection: keyCollection, field: 'webhook.last4', secret: 'signing secret of' },
  { collection: keyCollection, field: 'webhook.next.last4', secret: 'prepared signing secret of' },
  { collection: clientCollection, field: 'secrets.last4', secret: 'client secret of' },
  { collection: integrationCollection, field: 'last4', secret: 'integration secret of' },
  { collection: integrationCollection, field: 'oldSecret.last4', secret: 'old secret of integration' },
];

/** Whether a text may be the last four characters of a secret. */
export const isLastFour = (text: string): boolean => /^[0-9A-Za-z]{4}$/.test(text);

interface FoundRecord {
  _id: string;
  partnerId: string;
  redirectUris?: string[];
}

interface Query {
  collection: string;
  filter: Document;
  /** The index of the searched field. The query reads all its keys, but only those documents that match. */
  hint: Document;
}

/** Searches partners by name, host, e-mail address, id or key. */
export function createSearchStore(db: Db) {
  const query = ({ collection, filter, hint }: Query): Promise<FoundRecord[]> =>
    db
      .collection(collection)
      .find(filter, { hint, maxTimeMS: queryTimeoutMs })
      .project<FoundRecord>({ partnerId: 1, redirectUris: 1 })
      .limit(mostMatches)
      .toArray();

  /** Names are stored in one form of their letters. Those of older builds may have another one, in which people paste them. */
  async function byName(text: string): Promise<Match[]> {
    const forms = [...new Set([text, unifyForms(text), text.normalize('NFD')])];
    const filter = { name: { $regex: forms.map(literal).join('|'), $options: 'i' } };
    const found = await query({ collection: partnerCollection, filter, hint: { name: 1 } });
    return found.map(({ _id }) => ({ partnerId: _id, found: 'name' }));
  }

  /** Finds partners by the e-mail address of a contact or of a member. */
  async function byEmail(email: string): Promise<Match[]> {
    const [partners, members] = await Promise.all([
      query({ collection: partnerCollection, filter: { contacts: email }, hint: { contacts: 1 } }),
      query({ collection: memberCollection, filter: { email }, hint: { email: 1 } }),
    ]);
    return [
      ...partners.map(({ _id }) => ({ partnerId: _id, found: `contact ${email}` })),
      ...members.map(({ _id, partnerId }) => ({ partnerId, found: `member ${_id}` })),
    ];
  }

  /** Finds clients by a part of the host of a redirect URI. @param text the part, or an address with this host */
  async function byRedirectHost(text: string): Promise<Match[]> {
    const host = literal(hostIn(text));
    // The host ends at the first slash, question mark or hash after `://`.
    const pattern = new RegExp(`^https?://[^/?#]*${host}`, 'i');
    const filter = { redirectUris: { $regex: pattern } };
    const found = await query({ collection: clientCollection, filter, hint: { redirectUris: 1 } });
    return found.map(({ _id, partnerId, redirectUris = [] }) => {
      const uri = redirectUris.find((candidate) => pattern.test(candidate)) ?? '';
      return { partnerId, found: `redirect URI ${uri} of ${_id}` };
    });
  }

  async function byLastFour(text: string): Promise<Match[]> {
    const found = await Promise.all(
      lastFourFields.map(async ({ collection, field, secret }) => {
        const owners = await query({ collection, filter: { [field]: text }, hint: { [field]: 1 } });
        return owners.map(({ _id, partnerId }) => ({ partnerId, found: `${secret} ${_id} …${text}` }));
      }),
    );
    return found.flat();
  }

  const collections: Partial<Record<IdentifierKind, string>> = {
    partner: partnerCollection,
    client: clientCollection,
    apiKey: keyCollection,
    integration: integrationCollection,
  };

  /** Finds records by their id, or by its beginning. */
  async function byId(text: string, kind: IdentifierKind): Promise<Match[]> {
    const collection = collections[kind];
    if (!collection || !/^\w+$/.test(text)) return [];
    // All ids that begin with the text: `~` sorts after every character of an id.
    const filter = { _id: { $gte: text, $lt: `${text}~` } };
    const found = await query({ collection, filter, hint: { _id: 1 } });
    // The record of a partner has no `partnerId`, because its own id is that of the partner.
    return found.map(({ _id, partnerId = _id }) => ({ partnerId, found: _id }));
  }

  return {
    /** Returns the matches of a text, at most 500 of each kind. */
    async matches(text: string): Promise<Match[]> {
      const kind = identifierKind(text);
      if (kind) return byId(text, kind);
      const canBeHost = /^\S+$/.test(text);
      const found = await Promise.all([
        byName(text),
        ...(/^\S+@\S+$/.test(text) ? [byEmail(text.toLowerCase())] : []),
        ...(canBeHost ? [byRedirectHost(text)] : []),
        ...(isLastFour(text) ? [byLastFour(text)] : []),
      ]);
      return found.flat();
    },
  };
}
