import type { OldSecret } from '../../../contracts/admin/keys.ts';
import type { AdminApi } from '../../connection/client.ts';
import { listFlags, modeFilter, moment } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';
import { readAll } from '../../list/pages.ts';

/** A secret of a partner that is accepted now, or that signs. `id` is that of its owner. */
interface Secret {
  id: string;
  kind: 'apiKey' | 'webhookSecret' | 'clientSecret' | 'integrationSecret';
  partnerId: string;
  partnerName: string | null;
  mode: 'test' | 'live';
  last4: string | null;
  madeAt: string;
  lastUsedAt: string | null;
  /** The end of a replaced secret; null for the present one. */
  expiresAt: string | null;
  /** The command that replaces the secret. */
  next: string;
}

interface Wanted {
  partnerId: string | undefined;
  mode: 'test' | 'live' | undefined;
}

type Listed<Topic extends 'keys' | 'clients' | 'integrations'> = Awaited<
  ReturnType<AdminApi[Topic]['list']['query']>
>[number];
const ownerOf = ({ id, partnerId, partnerName, mode }: Listed<'keys' | 'clients' | 'integrations'>) => ({
  ...{ id, partnerId, partnerName, mode },
  expiresAt: null,
});

/**
 * Returns replaced secrets that still work, of an API key or an integration. It is not stored when they were made, so that they
 * count as old as their record.
 */
const replaced = (current: Secret, createdAt: string, secrets: readonly OldSecret[]): Secret[] =>
  secrets.map(({ last4, lastUsedAt, expiresAt }) => ({
    ...current,
    ...{ last4, lastUsedAt, expiresAt },
    madeAt: createdAt,
  }));

/** The secrets of an API key: its own, replaced ones, and the one that signs its webhooks. Times of older builds are not known. */
function ofKey(key: Listed<'keys'>): Secret[] {
  const own: Secret = {
    ...ownerOf(key),
    ...{ kind: 'apiKey', last4: key.last4, lastUsedAt: key.lastUsedAt, next: `keys rotate ${key.id}` },
    madeAt: key.rotatedAt ?? key.createdAt,
  };
  const accepted = [own, ...replaced(own, key.createdAt, key.oldSecrets)];
  if (key.webhookUrl === null) return accepted;
  const signing: Secret = {
    ...ownerOf(key),
    ...{ kind: 'webhookSecret', last4: key.webhookLast4, lastUsedAt: key.webhookLastUsedAt },
    madeAt: key.webhookSecretAt ?? key.createdAt,
    next: `webhooks prepare-secret ${key.id}`,
  };
  return [...accepted, signing];
}

const ofClient = (client: Listed<'clients'>): Secret[] =>
  client.secrets.map(({ last4, createdAt, lastUsedAt, expiresAt }) => ({
    ...ownerOf(client),
    ...{ kind: 'clientSecret', last4, lastUsedAt, expiresAt },
    madeAt: createdAt ?? client.createdAt,
    next: `clients rotate-secret ${client.id}`,
  }));

function ofIntegration(integration: Listed<'integrations'>): Secret[] {
  const { id, last4, lastUsedAt, createdAt, rotatedAt, oldSecret } = integration;
  const own: Secret = {
    ...ownerOf(integration),
    ...{ kind: 'integrationSecret', last4, lastUsedAt },
    madeAt: rotatedAt ?? createdAt,
    next: `integrations rotate-secret ${id}`,
  };
  return [own, ...replaced(own, createdAt, oldSecret === null ? [] : [oldSecret])];
}

/** Reads the secrets of all active keys, clients and integrations, the oldest first. */
async function readSecrets(api: AdminApi, wanted: Wanted): Promise<Secret[]> {
  const active = { ...wanted, status: 'active' } as const;
  const [keys, clients, integrations] = await Promise.all([
    readAll((page) => api.keys.list.query({ ...active, ...page })),
    readAll((page) => api.clients.list.query({ ...active, ...page })),
    readAll((page) => api.integrations.list.query({ ...active, ...page })),
  ]);
  const secrets = [
    ...keys.flatMap(ofKey),
    ...clients.flatMap(ofClient),
    ...integrations.flatMap(ofIntegration),
  ];
  return secrets.toSorted((one, other) => (one.madeAt < other.madeAt ? -1 : 1));
}

export default class SecretsList extends ListCommand<typeof SecretsList> {
  static override summary = 'List the secrets of partners by their age, the oldest first.';
  static override description =
    'Lists API keys, and secrets of clients, webhooks and integrations, of records that are active. Replaced secrets that still work are among them. The secrets themselves are not shown.';
  static override examples = [
    '<%= config.bin %> secrets list --older-than 90d',
    '<%= config.bin %> secrets list --older-than 365d --mode live --by partnerName,kind',
  ];
  static override flags = {
    'older-than': moment({ description: 'only secrets made before this time' }),
    partner: idFlag('partner')({ description: 'only of this partner' }),
    mode: modeFilter,
    ...listFlags,
  };

  async run() {
    const { partner, mode, 'older-than': before } = this.flags;
    return this.showList({
      page: async () => {
        const secrets = await readSecrets(this.api, { partnerId: partner, mode });
        return secrets.filter(({ madeAt }) => before === undefined || madeAt < before);
      },
      fields: async () => ['expiresAt', 'next', 'partnerId'],
      columns: ['id', 'kind', 'mode', 'partnerName', 'last4', 'madeAt', 'lastUsedAt', 'expiresAt'],
      dropIfNarrow: [...columnsSameFor(partner), 'expiresAt', 'last4'],
    });
  }
}
