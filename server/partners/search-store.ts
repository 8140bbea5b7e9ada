import type { Db, Document } from 'mongodb';
import { type IdentifierKind, identifierKind } from '../../contracts/identifiers.ts';

/** Something of a partner that fits a search, in words. */
export interface Match {
  partnerId: string;
  found: string;
}

/** Matches of one kind that are looked at. */
const mostMatches = 500;
/** Milliseconds that one query may take. */
const queryTimeoutMs = 2_000;

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The host of an address; other text as it is. */
function hostIn(text: string): string {
  return (URL.canParse(text) ? new URL(text).host : '') || text;
}

/** Where the last characters of secrets are kept. */
const lastFours = [
  { collection: 'apiKeys', field: 'last4', secret: 'API key' },
  { collection: 'apiKeys', field: 'oldSecrets.last4', secret: 'old secret of API key' },
  { collection: 'apiKeys', field: 'webhook.last4', secret: 'signing secret of' },
  { collection: 'apiKeys', field: 'webhook.next.last4', secret: 'prepared signing secret of' },
  { collection: 'clients', field: 'secrets.last4', secret: 'client secret of' },
  { collection: 'integrations', field: 'last4', secret: 'integration secret of' },
  { collection: 'integrations', field: 'oldSecret.last4', secret: 'old secret of integration' },
];

interface Kept {
  _id: string;
  partnerId: string;
  redirectUris?: string[];
  clientId?: string;
}

interface Look {
  collection: string;
  filter: Document;
  /** The index that the query scans, without reading documents. */
  hint: Document;
  /** The fields that it returns beside the id. */
  fields?: Document;
}

/** An entry of the audit log about a secret that another one replaced, or that was removed. */
interface Replaced {
  partnerId: string;
  target: string;
  operatorName: string;
  at: Date;
}

export type SearchStore = ReturnType<typeof createSearchStore>;

/** Searches partners by name, host, id or key. */
export function createSearchStore(db: Db) {
  const look = <Found extends Document = Kept>({
    collection,
    filter,
    hint,
    fields = { partnerId: 1, redirectUris: 1, clientId: 1 },
  }: Look): Promise<Found[]> =>
    db
      .collection(collection)
      .find(filter, { hint, maxTimeMS: queryTimeoutMs })
      .project<Found>(fields)
      .limit(mostMatches)
      .toArray();

  async function byName(text: string): Promise<Match[]> {
    const filter = { name: { $regex: literal(text), $options: 'i' } };
    const found = await look({ collection: 'partners', filter, hint: { name: 1 } });
    return found.map(({ _id }) => ({ partnerId: _id, found: 'name' }));
  }

  async function byRedirectHost(text: string): Promise<Match[]> {
    const host = literal(hostIn(text));
    const pattern = new RegExp(`^https?://[^/?#]*${host}`, 'i');
    const filter = { redirectUris: { $regex: pattern } };
    const found = await look({ collection: 'clients', filter, hint: { redirectUris: 1 } });
    return found.map(({ _id, partnerId, redirectUris = [] }) => {
      const uri = redirectUris.find((candidate) => pattern.test(candidate)) ?? '';
      return { partnerId, found: `redirect URI ${uri} of ${_id}` };
    });
  }

  async function byLastFour(text: string): Promise<Match[]> {
    const found = await Promise.all(
      lastFours.map(async ({ collection, field, secret }) => {
        const owners = await look({ collection, filter: { [field]: text }, hint: { [field]: 1 } });
        return owners.map(({ _id, partnerId }) => ({ partnerId, found: `${secret} ${_id} …${text}` }));
      }),
    );
    return found.flat();
  }

  /** Secrets that may have ended: the audit log keeps their last characters for good. */
  async function byReplaced(text: string): Promise<Match[]> {
    const entries = await look<Replaced>({
      collection: 'auditLog',
      filter: { 'before.last4': text, partnerId: { $exists: true } },
      hint: { 'before.last4': 1 },
      fields: { partnerId: 1, target: 1, operatorName: 1, at: 1 },
    });
    return entries.map(({ partnerId, target, operatorName, at }) => ({
      partnerId,
      found: `secret of ${target} …${text} until ${operatorName} replaced or removed it at ${at.toISOString()}`,
    }));
  }

  const collections: Partial<Record<IdentifierKind, string>> = {
    partner: 'partners',
    client: 'clients',
    apiKey: 'apiKeys',
    integration: 'integrations',
  };

  /** An id, or the beginning of one. */
  async function byId(text: string, kind: IdentifierKind): Promise<Match[]> {
    const collection = collections[kind];
    if (!collection || !/^\w+$/.test(text)) return [];
    const filter = { _id: { $gte: text, $lt: `${text}~` } };
    const found = await look({ collection, filter, hint: { _id: 1 } });
    return found.map(({ _id, partnerId = _id }) => ({ partnerId, found: _id }));
  }

  return {
    /** At most 500 of each kind. */
    async matches(text: string): Promise<Match[]> {
      const kind = identifierKind(text);
      if (kind) return byId(text, kind);
      const found = await Promise.all([
        byName(text),
        ...(/^\S+$/.test(text) ? [byRedirectHost(text)] : []),
        ...(/^[0-9A-Za-z]{4}$/.test(text) ? [byLastFour(text), byReplaced(text)] : []),
      ]);
      return found.flat();
    },
  };
}
