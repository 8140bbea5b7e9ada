import type { MemberRole } from '../../contracts/admin/members.ts';

const kindOfField = {
  partnerId: 'partner',
  keyId: 'apiKey',
  clientId: 'client',
  integrationId: 'integration',
  sessionId: 'session',
  enrollmentId: 'enrollment',
  eventId: 'event',
  deliveryId: 'delivery',
  deliveryIds: 'delivery',
  bulkId: 'bulkJob',
  entryId: 'entry',
  requestId: 'request',
  memberId: 'member',
} as const;
/** The kinds of records that an input can name. A warning or an audit entry can be named only by the field `after` of a list. */
export type OwnedKind = (typeof kindOfField)[keyof typeof kindOfField] | 'warning' | 'auditEntry';
/** The input fields that name a record, each with the kind of the record. A map, because callers choose the names. */
export const identifyingFields: ReadonlyMap<string, OwnedKind> = new Map(Object.entries(kindOfField));

/** Which members may call a procedure, and with what input. */
export interface ScopeRow {
  roles: readonly MemberRole[];
  /** The input fields that a member may set. `partnerId` is always the member's own partner. */
  fields: readonly string[];
  /** For a list: the kind of record that the field `after` names. It is the last record of the page before. */
  cursorKind?: OwnedKind;
  /** Whether `memberId` has to be the member's own. */
  isOnlySelf?: true;
  /**
   * Whether the passkey must have been used in the last 30 minutes: for changes of API keys, clients, integrations, webhook URLs,
   * signing secrets, members and spend caps, and for events that are brought to a member's machine.
   */
  needsFreshPasskey: boolean;
}

const everyone: readonly MemberRole[] = ['owner', 'developer', 'finance', 'viewer'];
const technicalReaders: readonly MemberRole[] = ['owner', 'developer', 'viewer'];
const builders: readonly MemberRole[] = ['owner', 'developer'];
const moneyReaders: readonly MemberRole[] = ['owner', 'finance', 'viewer'];
const moneyEditors: readonly MemberRole[] = ['owner', 'finance'];
const owners: readonly MemberRole[] = ['owner'];

/** Makes the row of a procedure. @param fields the names of the input fields, with spaces between them */
const allow = (roles: readonly MemberRole[], fields: string, cursorKind?: OwnedKind): ScopeRow => ({
  roles,
  fields: fields.split(' '),
  needsFreshPasskey: false,
  ...(cursorKind ? { cursorKind } : {}),
});
/** Makes the row of a procedure that needs a fresh use of the passkey. */
const allowFresh: typeof allow = (...row) => ({ ...allow(...row), needsFreshPasskey: true });
/** Makes the row of a procedure that each member may call, for the own membership only. */
const allowSelf = (fields: string): ScopeRow => ({ ...allow(everyone, fields), isOnlySelf: true });
/** Makes the rows of a list and of its count. The list also has the fields of a page. @param kind the kind of the listed records */
const listAndCount = (topic: string, roles: readonly MemberRole[], filter: string, kind: OwnedKind) => ({
  [`${topic}.list`]: allow(roles, `${filter} limit after`, kind),
  [`${topic}.count`]: allow(roles, filter),
});

/** The settings of a client that members may set. */
const clientSettings = 'brandName brandColor purpose privacyUrl passkeys maxVerificationAgeSeconds';

/**
 * The procedures of the admin API that members may call. A procedure without a row does not exist for them. Personal data of
 * users are masked, as for the operators' role ops.
 */
export const scope: Readonly<Record<string, ScopeRow>> = {
  'partners.show': allow(everyone, 'partnerId'),
  'partners.setLogo': allow(builders, 'partnerId image'),
  'partners.removeLogo': allow(builders, 'partnerId'),

  ...listAndCount('keys', everyone, 'partnerId mode status', 'apiKey'),
  'keys.show': allow(everyone, 'keyId'),
  'keys.create': allowFresh(builders, 'partnerId mode'),
  'keys.rotate': allowFresh(builders, 'keyId keepOldSeconds'),
  'keys.revoke': allowFresh(builders, 'keyId'),

  ...listAndCount('clients', everyone, 'partnerId keyId mode kind status', 'client'),
  'clients.show': allow(everyone, 'clientId'),
  'clients.create': allowFresh(builders, `partnerId keyId name kind redirectUris claims ${clientSettings}`),
  'clients.update': allowFresh(
    builders,
    `clientId keyId name redirectUris addRedirectUris removeRedirectUris claims ${clientSettings}`,
  ),
  'clients.rotateSecret': allowFresh(builders, 'clientId keepOldSeconds'),
  'clients.disable': allowFresh(builders, 'clientId'),
  'clients.enable': allowFresh(builders, 'clientId'),

  ...listAndCount('integrations', everyone, 'partnerId clientId mode status', 'integration'),
  'integrations.show': allow(everyone, 'integrationId'),
  'integrations.create': allowFresh(builders, 'partnerId clientId shops'),
  'integrations.update': allowFresh(builders, 'integrationId addShops removeShops'),
  'integrations.rotateSecret': allowFresh(builders, 'integrationId keepOldSeconds'),
  'integrations.disable': allowFresh(builders, 'integrationId'),

  'webhooks.show': allow(everyone, 'keyId'),
  'webhooks.health': allow(everyone, 'partnerId keyId mode limit'),
  'webhooks.set': allowFresh(builders, 'keyId url'),
  'webhooks.changeUrl': allowFresh(builders, 'keyId url'),
  'webhooks.unset': allowFresh(builders, 'keyId'),
  'webhooks.prepareSecret': allowFresh(builders, 'keyId'),
  'webhooks.switchSecret': allowFresh(builders, 'keyId last4'),
  'webhooks.rotateSecret': allowFresh(builders, 'keyId'),
  'webhooks.pause': allow(builders, 'keyId until'),
  'webhooks.resume': allow(builders, 'keyId'),
  'webhooks.setNotices': allow(builders, 'keyId notices'),
  'webhooks.test': allow(builders, 'keyId'),
  'webhooks.trigger': allow(builders, 'keyId event'),
  'webhooks.verify': allow(builders, 'keyId body encoding signature computed'),
  'webhooks.relay': allowFresh(builders, 'keyId since after', 'delivery'),

  ...listAndCount(
    'events',
    technicalReaders,
    'partnerId keyId mode event sessionId enrollmentId sub since until',
    'event',
  ),
  'events.show': allow(technicalReaders, 'eventId'),
  ...listAndCount(
    'deliveries',
    technicalReaders,
    'partnerId keyId mode event since until status eventId',
    'delivery',
  ),
  'deliveries.show': allow(technicalReaders, 'deliveryId'),
  'deliveries.resend': allow(builders, 'deliveryIds dryRun'),
  'deliveries.cancel': allow(builders, 'deliveryId'),
  'deliveries.reschedule': allow(builders, 'deliveryId at inSeconds'),
  'bulk.start': allow(builders, 'action filter rate at again dryRun'),
  'bulk.show': allow(technicalReaders, 'bulkId'),
  'bulk.cancel': allow(builders, 'bulkId'),

  ...listAndCount(
    'requests',
    technicalReaders,
    'partnerId clientId sessionId status path error since until',
    'request',
  ),
  'requests.show': allow(technicalReaders, 'requestId'),
  'requests.refused': allow(technicalReaders, 'partnerId since limit'),
  ...listAndCount(
    'sessions',
    technicalReaders,
    'partnerId clientId enrollmentId stateHash clientReferenceId mode status since until',
    'session',
  ),
  'sessions.show': allow(technicalReaders, 'sessionId'),
  ...listAndCount('enrollments', technicalReaders, 'partnerId sub', 'enrollment'),
  'enrollments.show': allow(technicalReaders, 'enrollmentId'),

  'wallets.show': allow(moneyReaders, 'partnerId mode'),
  'wallets.statement': allow(moneyReaders, 'partnerId mode from to afterSeq untilSeq limit'),
  'wallets.signedStatement': allow(moneyReaders, 'partnerId mode from to'),
  'wallets.entry': allow(moneyReaders, 'entryId'),
  'limits.show': allow(everyone, 'partnerId mode'),
  'limits.set': allowFresh(moneyEditors, 'partnerId mode perMinute perHour'),
  'prices.show': allow(moneyReaders, 'partnerId'),
  ...listAndCount('warnings', everyone, 'partnerId state', 'warning'),
  'warnings.settings': allow(everyone, 'partnerId'),
  'warnings.set': allow([...builders, 'finance'], 'partnerId emails lowBalance'),

  ...listAndCount('members', owners, 'partnerId status', 'member'),
  'members.show': allow(owners, 'memberId'),
  'members.acts': allow(owners, 'partnerId limit after', 'auditEntry'),
  'members.wishes': allowSelf('memberId'),
  'members.setWishes': allowSelf('memberId warnings'),
  'members.invite': allowFresh(owners, 'partnerId email role'),
  'members.setRole': allowFresh(owners, 'memberId role'),
  'members.remove': allowFresh(owners, 'memberId'),
};

/** Whether the role may call the procedure. */
export const isAllowed = (role: MemberRole, path: string): boolean =>
  scope[path]?.roles.includes(role) === true;
